#include "kernel/netlink/message.h"

#include <cstring>
#include <limits>
#include <linux/netlink.h>
#include <string>

#include <libmnl/libmnl.h>

namespace kernel {
namespace {

constexpr std::size_t kUsualSize = 96;  // A rule or a route without much to it.
constexpr std::size_t kMaxAttribute = std::numeric_limits<std::uint16_t>::max() - sizeof(nlattr);

}  // namespace

Message::Message(std::uint16_t type, std::uint16_t flags) {
  bytes_.reserve(kUsualSize);
  bytes_.resize(MNL_NLMSG_HDRLEN);
  nlmsghdr* const start = mnl_nlmsg_put_header(bytes_.data());
  start->nlmsg_type = type;
  start->nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST);
}

void Message::put_u8(std::uint16_t type, std::uint8_t value) {
  put_struct(type, value);
}
void Message::put_u16(std::uint16_t type, std::uint16_t value) {
  put_struct(type, value);
}
void Message::put_u32(std::uint16_t type, std::uint32_t value) {
  put_struct(type, value);
}
void Message::put_u64(std::uint16_t type, std::uint64_t value) {
  put_struct(type, value);
}

void Message::put_text(std::uint16_t type, std::string_view text) {
  if (text.size() >= kMaxAttribute || text.find('\0') != std::string_view::npos) {
    fits_ = false;
    return;
  }
  reserve(MNL_ATTR_HDRLEN + text.size() + 1);
  mnl_attr_put_strz(header(), type, std::string(text).c_str());
  shrink_to_length();
}

void Message::put_bytes(std::uint16_t type, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxAttribute) {
    fits_ = false;
    return;
  }
  reserve(MNL_ATTR_HDRLEN + bytes.size());
  // A null source is undefined for memcpy even with length 0.
  static constexpr std::byte kNothing{};
  mnl_attr_put(header(), type, bytes.size(), bytes.empty() ? &kNothing : bytes.data());
  shrink_to_length();
}

void Message::append_header(std::span<const std::byte> extra) {
  if (extra.empty()) return;
  reserve(extra.size());
  void* const place = mnl_nlmsg_put_extra_header(header(), extra.size());
  std::memcpy(place, extra.data(), extra.size());
  shrink_to_length();
}

std::uint16_t Message::type() const {
  nlmsghdr start;
  std::memcpy(&start, bytes_.data(), sizeof(start));
  return start.nlmsg_type;
}

nlmsghdr* Message::header() {
  return reinterpret_cast<nlmsghdr*>(bytes_.data());
}

void Message::reserve(std::size_t more) {
  bytes_.resize(bytes_.size() + MNL_ALIGN(more));
}

void Message::shrink_to_length() {
  bytes_.resize(header()->nlmsg_len);
}

std::size_t Message::open_nest(std::uint16_t type) {
  const std::size_t at = bytes_.size();
  reserve(MNL_ATTR_HDRLEN);
  mnl_attr_nest_start(header(), type);
  shrink_to_length();
  return at;
}

void Message::close_nest(std::size_t at) {
  if (bytes_.size() - at > std::numeric_limits<std::uint16_t>::max()) {
    fits_ = false;
    return;
  }
  mnl_attr_nest_end(header(), reinterpret_cast<nlattr*>(bytes_.data() + at));
}

void Message::stamp(std::uint32_t sequence, std::uint16_t more_flags) {
  header()->nlmsg_seq = sequence;
  header()->nlmsg_flags = static_cast<std::uint16_t>(header()->nlmsg_flags | more_flags);
}

}  // namespace kernel
