#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "kube/error.h"
#include "kube/message.h"
#include "kube/resource.h"

// A watch's answer as a step function: bytes in, events out. Pure.
namespace kube {

// Reads the JSON objects in a stream of bytes, wherever reads have cut it. An API server writes one on each line: so a
// line is tried first, and parsing it is the check; brackets are counted only where that fails or there is no line yet.
class Framer {
 public:
  explicit Framer(std::size_t max_object = 16U << 20U) : max_object_(max_object) {}

  void feed(std::string_view bytes);
  // The next whole object, nothing while more bytes are needed; valid while the reader's document is. An error is
  // final: what follows it cannot be trusted.
  base::Result<std::optional<json::Value>> next(json::Reader& reader);

 private:
  std::optional<json::Value> next_line(json::Reader& reader);
  base::Result<std::optional<std::string_view>> next_in_brackets();
  void begin_at(std::size_t start);

  std::size_t max_object_;
  std::string buffer_;
  std::size_t start_ = 0;      // Of the object being looked for.
  std::size_t line_seen_ = 0;  // Up to here its line does not end.
  bool is_line_ = true;        // As far as is known.
  std::size_t seen_ = 0;       // Up to here the state below is known.
  unsigned depth_ = 0;
  bool in_string_ = false;
};

// The versions of one kind are numbers that grow; 0 is none.
base::Result<std::uint64_t> parse_version(std::string_view text);

// What every object tells about itself.
struct Identity {
  Key key;
  std::string uid;
  std::uint64_t version = 0;
};
base::Result<Identity> identify(const json::Value& object);

// An object of a list or of an event. That it is there is known even where what it says cannot be read: one such object
// makes neither its list nor its watch unreadable.
struct Item {
  Identity identity;
  base::Result<json::Value> object;  // Speaks of its own fields. Or why it cannot be read.
};
base::Result<Item> read_item(const json::Value& object);
// Of a message; lives until the reader parses anything else.
base::Result<Item> read_item(std::string_view message, const json::Schema& schema, json::Reader& reader);

struct Event {
  enum class Type { added, modified, deleted, bookmark, error };

  Type type;
  Identity identity;                   // Of a bookmark, only the version.
  base::Result<json::Value> object;    // As in an item.
  bool ends_initial = false;           // The bookmark after the last initial event.
  std::optional<ServerStatus> status;  // Of an error.
};

// Of one object of the stream; the event lives as long as that.
base::Result<Event> decode_event(const json::Value& document);
// Of one message of the stream, with an object of that schema; the event lives until the reader parses anything else.
base::Result<Event> decode_event(std::string_view frame, const json::Schema& schema, json::Reader& reader);

// The events of a stream in whichever encoding it came: its first byte tells, as no message is as long as one that
// begins with a bracket would be.
class EventReader {
 public:
  // `schema`: of its objects in messages; none: those are an error.
  explicit EventReader(const json::Schema* schema = nullptr) : schema_(schema) {}

  void feed(std::string_view bytes);
  // Nothing while more bytes are needed. An event lives until the next call of anything here. An error is final.
  base::Result<std::optional<Event>> next(json::Reader& reader);

 private:
  const json::Schema* schema_;
  std::optional<bool> is_messages_;  // Once there is a first byte.
  Framer texts_;
  MessageFramer messages_;
};

}  // namespace kube
