#include "kube/message.h"

#include <utility>

#include <fmt/format.h>

namespace kube {
namespace {

using base::fail;
using base::Fault;

constexpr std::string_view kMark("k8s\0", 4);
constexpr std::size_t kLengthSize = 4;
constexpr std::size_t kKeptCapacity = 64U << 10U;

// Field numbers of k8s.io/apimachinery: runtime.Unknown and its TypeMeta, meta/v1 WatchEvent, RawExtension.
constexpr std::uint32_t kTypeMeta = 1;
constexpr std::uint32_t kTypeMetaKind = 2;
constexpr std::uint32_t kUnknownRaw = 2;
constexpr std::uint32_t kUnknownContentEncoding = 3;
constexpr std::uint32_t kEventType = 1;
constexpr std::uint32_t kEventObject = 2;
constexpr std::uint32_t kExtensionRaw = 1;

std::size_t length_at(std::string_view bytes) {
  std::size_t out = 0;
  for (const char c : bytes.substr(0, kLengthSize)) out = out << 8U | static_cast<unsigned char>(c);
  return out;
}

}  // namespace

bool is_message(std::string_view bytes) {
  return bytes.starts_with(kMark);
}

base::Result<Envelope> open_envelope(std::string_view bytes) {
  if (!is_message(bytes)) return fail(Fault::invalid, "not a message of an API server");
  Envelope out;
  json::MessageFields fields(bytes.substr(kMark.size()));
  while (fields.next()) {
    if (fields.number() == kTypeMeta) out.kind = json::bytes_of(fields.bytes(), kTypeMetaKind);
    if (fields.number() == kUnknownRaw) out.object = fields.bytes();
    if (fields.number() == kUnknownContentEncoding && !fields.bytes().empty()) {
      return fail(Fault::invalid, "a message in an encoding that nobody has asked for");
    }
  }
  if (fields.broken()) return fail(Fault::invalid, "not a valid message");
  return out;
}

base::Result<EventMessage> open_event(std::string_view frame) {
  EventMessage out;
  std::string_view object;
  json::MessageFields fields(frame);
  while (fields.next()) {
    if (fields.number() == kEventType) out.type = fields.bytes();
    if (fields.number() == kEventObject) object = fields.bytes();
  }
  if (fields.broken()) return fail(Fault::invalid, "not a valid message");
  out.envelope = TRY(open_envelope(json::bytes_of(object, kExtensionRaw)));
  return out;
}

void MessageFramer::feed(std::string_view bytes) {
  buffer_.erase(0, std::exchange(start_, 0));
  buffer_ += bytes;
}

base::Result<std::optional<std::string_view>> MessageFramer::next() {
  if (start_ == buffer_.size() && buffer_.capacity() > kKeptCapacity) {
    buffer_.clear();
    buffer_.shrink_to_fit();  // A list has passed; single events need less.
    start_ = 0;
  }
  const auto rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < kLengthSize) return std::nullopt;
  const std::size_t length = length_at(rest);
  if (length > max_message_) {
    return fail(Fault::invalid, fmt::format("a message of the stream is larger than {} bytes", max_message_));
  }
  if (rest.size() - kLengthSize < length) return std::nullopt;
  start_ += kLengthSize + length;
  return rest.substr(kLengthSize, length);
}

}  // namespace kube
