#include "kube/watch.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace kube {
namespace {

using base::fail;
using base::Fault;

constexpr std::size_t kKeptCapacity = 64U << 10U;

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Whether the quote at `at`, somewhere in a string, is part of it: an odd number of backslashes stands before it.
bool is_escaped(std::string_view text, std::size_t at) {
  const std::size_t before = text.find_last_not_of('\\', at - 1);
  return (at - 1 - before) % 2 == 1;  // The string's own quote, if nothing else, is no backslash.
}

std::optional<Event::Type> parse_type(std::string_view text) {
  if (text == "ADDED") return Event::Type::added;
  if (text == "MODIFIED") return Event::Type::modified;
  if (text == "DELETED") return Event::Type::deleted;
  if (text == "BOOKMARK") return Event::Type::bookmark;
  if (text == "ERROR") return Event::Type::error;
  return std::nullopt;
}

std::string no_type(std::string_view text) {
  constexpr std::size_t kLongestType = 40;  // Whatever a peer sends: it goes into the log.
  return fmt::format("\"{}\" is no type of event", text.substr(0, kLongestType));
}

base::Result<std::uint64_t> version_of(const json::Value& meta) {
  const auto text = TRY(meta["resourceVersion"].string());
  return parse_version(text);
}

base::Result<Identity> identity_in(const json::Value& meta) {
  Identity out;
  out.key.ns = TRY(meta["namespace"].string_or(""));
  out.key.name = TRY(meta["name"].string());
  out.uid = TRY(meta["uid"].string_or(""));
  out.version = TRY(version_of(meta));
  return out;
}

base::Result<Event> decode_bookmark(const json::Value& object) {
  const auto meta = object["metadata"];
  const auto annotations = meta["annotations"];
  Event event{.type = Event::Type::bookmark, .identity = {}, .object = object, .status = {}};
  event.identity.version = TRY(version_of(meta));
  if (annotations.exists()) event.ends_initial = TRY(annotations["k8s.io/initial-events-end"].string_or("")) == "true";
  return event;
}

base::Result<Event> decode_error(const json::Value& object) {
  return Event{.type = Event::Type::error, .identity = {}, .object = object, .status = TRY(decode_status(object))};
}

Event event_of(Event::Type type, Item item) {
  return {.type = type, .identity = std::move(item.identity), .object = std::move(item.object), .status = {}};
}

constexpr std::uint32_t kObjectMeta = 1;  // Of every object.

// A bookmark is an object with next to nothing in it, but for what says that the list is whole.
constexpr json::Schema kBookmarkMeta{json::field::text(6, "resourceVersion"), json::field::map(12, "annotations")};
constexpr json::Schema kBookmark{json::field::message(kObjectMeta, "metadata", kBookmarkMeta)};

// So little that next to nothing can be wrong with it.
constexpr json::Schema kIdentityMeta{json::field::text(1, "name"), json::field::text(3, "namespace"),
                                     json::field::text(5, "uid"), json::field::text(6, "resourceVersion")};

}  // namespace

void Framer::feed(std::string_view bytes) {
  if (start_ > 0) {
    buffer_.erase(0, start_);
    seen_ -= start_;
    line_seen_ -= start_;
    start_ = 0;
  }
  buffer_ += bytes;
}

base::Result<std::optional<json::Value>> Framer::next(json::Reader& reader) {
  if (depth_ == 0) {
    while (start_ < buffer_.size() && is_blank(buffer_[start_])) ++start_;
    begin_at(start_);
  }
  if (const auto line = next_line(reader)) return line;
  if (const auto object = TRY(next_in_brackets())) return TRY(reader.parse(*object));
  if (buffer_.size() - start_ > max_object_) {
    return fail(Fault::invalid, fmt::format("an object of the stream is larger than {} bytes", max_object_));
  }
  if (start_ == buffer_.size() && buffer_.capacity() > kKeptCapacity) {
    buffer_.clear();          // Not by assignment: an empty string leaves the one that it is given to its room.
    buffer_.shrink_to_fit();  // A list has passed; single events need less.
    begin_at(0);
  }
  return std::nullopt;
}

// What parses is a whole object: no object is the beginning of another one.
std::optional<json::Value> Framer::next_line(json::Reader& reader) {
  if (!is_line_) return std::nullopt;
  const std::size_t end = buffer_.find('\n', line_seen_);
  line_seen_ = std::min(end, buffer_.size());
  if (end == std::string::npos) return std::nullopt;
  const auto line = std::string_view(buffer_).substr(start_, end - start_);
  is_line_ = line.starts_with('{') && line.ends_with('}');
  if (!is_line_) return std::nullopt;
  auto object = reader.parse(line);
  is_line_ = object.has_value();
  if (!is_line_) return std::nullopt;
  begin_at(end + 1);
  return *object;
}

base::Result<std::optional<std::string_view>> Framer::next_in_brackets() {
  while (seen_ < buffer_.size()) {
    if (in_string_) {
      const std::size_t quote = std::min(buffer_.find('"', seen_), buffer_.size());
      in_string_ = quote == buffer_.size() || is_escaped(buffer_, quote);
      seen_ = std::min(quote + 1, buffer_.size());
      continue;
    }
    const char c = buffer_[seen_++];
    const bool closes = c == '}' || c == ']';
    if (closes && depth_ == 1) {
      const auto object = std::string_view(buffer_).substr(start_, seen_ - start_);
      begin_at(seen_);
      return object;
    }
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (closes && depth_ > 0) {
      --depth_;
    }
    if (depth_ == 0) return fail(Fault::invalid, "the stream holds something that is no JSON object");
  }
  return std::nullopt;
}

void Framer::begin_at(std::size_t start) {
  start_ = seen_ = line_seen_ = start;
  is_line_ = true;
  depth_ = 0;
  in_string_ = false;
}

base::Result<std::uint64_t> parse_version(std::string_view text) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return fail(Fault::invalid, fmt::format("\"{}\" is no resource version", text));
  }
  return version;
}

base::Result<Identity> identify(const json::Value& object) {
  return identity_in(object["metadata"]);
}

base::Result<Item> read_item(const json::Value& object) {
  return Item{.identity = TRY(identify(object)), .object = object};
}

base::Result<Item> read_item(std::string_view message, const json::Schema& schema, json::Reader& reader) {
  const auto object = reader.parse(message, schema);
  if (object) return read_item(*object);
  // Read alone, what tells who it is is mostly sound.
  const auto meta = reader.parse(json::bytes_of(message, kObjectMeta), kIdentityMeta);
  const auto identity = meta ? identity_in(*meta) : std::unexpected(meta.error());
  if (!identity) return std::unexpected(object.error());
  return Item{.identity = *identity, .object = std::unexpected(object.error())};
}

base::Result<Event> decode_event(const json::Value& document) {
  const auto text = TRY(document["type"].string());
  const auto type = parse_type(text);
  if (!type) return document["type"].fail(no_type(text));
  if (!document["object"].exists()) return document["object"].fail("missing");
  const auto object = document["object"].as_root();
  if (*type == Event::Type::error) return decode_error(object);
  if (*type == Event::Type::bookmark) return decode_bookmark(object);
  return event_of(*type, TRY(read_item(object)));
}

base::Result<Event> decode_event(std::string_view frame, const json::Schema& schema, json::Reader& reader) {
  const auto message = TRY(open_event(frame));
  const auto type = parse_type(message.type);
  if (!type) return fail(Fault::invalid, no_type(message.type));
  const std::string_view object = message.envelope.object;
  if (*type == Event::Type::error) return decode_error(TRY(reader.parse(object, kStatusMessage)));
  if (*type == Event::Type::bookmark) return decode_bookmark(TRY(reader.parse(object, kBookmark)));
  return event_of(*type, TRY(read_item(object, schema, reader)));
}

void EventReader::feed(std::string_view bytes) {
  if (!is_messages_ && !bytes.empty()) is_messages_ = schema_ != nullptr && bytes.front() == '\0';
  is_messages_.value_or(false) ? messages_.feed(bytes) : texts_.feed(bytes);
}

base::Result<std::optional<Event>> EventReader::next(json::Reader& reader) {
  if (is_messages_.value_or(false)) {
    const auto frame = TRY(messages_.next());
    if (!frame) return std::nullopt;
    return TRY(decode_event(*frame, *schema_, reader));
  }
  const auto document = TRY(texts_.next(reader));
  if (!document) return std::nullopt;
  return TRY(decode_event(*document));
}

}  // namespace kube
