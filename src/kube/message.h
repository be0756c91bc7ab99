#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/message.h"

// Objects as protobuf messages, as an API server writes them for whoever asks for that: its own kinds, never those of
// custom resources.
namespace kube {

// Whether an answer is such an object: an API server marks each (runtime.Unknown).
bool is_message(std::string_view bytes);

struct Envelope {
  std::string_view kind;
  std::string_view object;
};
base::Result<Envelope> open_envelope(std::string_view bytes);

// An event of a watch, as far as its type goes.
struct EventMessage {
  std::string_view type;
  Envelope envelope;
};
base::Result<EventMessage> open_event(std::string_view frame);

// Cuts a stream of bytes into messages, wherever reads have cut it: before each stands its length.
class MessageFramer {
 public:
  explicit MessageFramer(std::size_t max_message = 16U << 20U) : max_message_(max_message) {}

  void feed(std::string_view bytes);
  // The next whole message, valid until the next call of anything here; nothing while more bytes are needed. An error
  // is final.
  base::Result<std::optional<std::string_view>> next();

 private:
  std::size_t max_message_;
  std::string buffer_;
  std::size_t start_ = 0;  // Of the message that comes next.
};

}  // namespace kube
