#include "http/websocket_frame.h"

#include <utility>

#include <fmt/format.h>

namespace http {
namespace {

constexpr unsigned kLast = 0x80;
constexpr unsigned kReserved = 0x70;
constexpr unsigned kKind = 0x0f;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kLength = 0x7f;
constexpr unsigned kLengthInTwo = 126;  // The length follows in so many bytes.
constexpr unsigned kLengthInEight = 127;
constexpr std::size_t kLargestControl = 125;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::string big_endian(std::uint64_t number, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = bytes; i-- > 0; number >>= 8U) out[i] = static_cast<char>(number & 0xffU);
  return out;
}

bool is_known(unsigned kind) {
  return kind <= 2 || (kind >= 8 && kind <= 10);
}

// What comes before the payload.
struct Head {
  Frame::Kind kind;
  bool last;
  std::size_t size;      // Of the head itself.
  std::uint64_t length;  // Of the payload.
};

base::Result<std::optional<Head>> read_head(std::string_view bytes) {
  const auto refuse = [](std::string_view why) {
    return base::fail(base::Fault::unavailable, fmt::format("WebSocket: {}", why));
  };
  if (bytes.size() < 2) return std::nullopt;
  const unsigned first = byte_at(bytes, 0);
  const unsigned second = byte_at(bytes, 1);
  if ((first & kReserved) != 0) return refuse("an extension that nobody asked for");
  if (!is_known(first & kKind)) return refuse("an unknown kind of frame");
  if ((second & kMasked) != 0) return refuse("a server does not mask");
  Head head{.kind = static_cast<Frame::Kind>(first & kKind),
            .last = (first & kLast) != 0,
            .size = 2,
            .length = second & kLength};
  const std::size_t more = head.length == kLengthInTwo ? 2 : head.length == kLengthInEight ? 8 : 0;
  if (bytes.size() < head.size + more) return std::nullopt;
  if (more > 0) head.length = 0;
  for (std::size_t i = 0; i < more; ++i) head.length = (head.length << 8U) | byte_at(bytes, head.size + i);
  head.size += more;
  const bool control = (first & 8U) != 0;
  if (control && (!head.last || head.length > kLargestControl)) return refuse("a control frame that is too large");
  return head;
}

}  // namespace

std::string encode(Frame::Kind kind, std::string_view payload, const std::array<char, 4>& mask) {
  const bool is_short = payload.size() < kLengthInTwo;
  const bool is_medium = payload.size() <= 0xffff;
  const unsigned length = is_short ? static_cast<unsigned>(payload.size()) : is_medium ? kLengthInTwo : kLengthInEight;
  std::string out;
  out.reserve(payload.size() + 14);
  out += static_cast<char>(kLast | std::to_underlying(kind));
  out += static_cast<char>(kMasked | length);
  if (!is_short) out += big_endian(payload.size(), is_medium ? 2 : 8);
  out.append(mask.data(), mask.size());
  for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
  return out;
}

base::Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view unread = std::string_view(bytes_).substr(read_);
  const auto head = TRY(read_head(unread));
  if (!head) return std::nullopt;
  if (head->length > largest_) {
    return base::fail(base::Fault::invalid,
                      fmt::format("WebSocket: a frame of {} bytes is larger than we accept", head->length));
  }
  const auto length = static_cast<std::size_t>(head->length);
  if (unread.size() < head->size + length) return std::nullopt;
  Frame frame{.kind = head->kind, .last = head->last, .payload = std::string(unread.substr(head->size, length))};
  read_ += head->size + length;
  if (2 * read_ >= bytes_.size()) bytes_.erase(0, std::exchange(read_, 0));
  return frame;
}

}  // namespace http
