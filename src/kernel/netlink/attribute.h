#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/netlink.h>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "net/address.h"

namespace kernel {

// One attribute as received. The value is a view into the message, valid as long as that is. Every reader checks the
// length; a wrong one is Fault::kernel, because only a kernel other than the one we know can send it.
struct Attribute {
  std::uint16_t type = 0;  // Without the nested and byte-order flags.
  std::span<const std::byte> value;

  base::Result<std::uint8_t> u8() const { return read<std::uint8_t>(); }
  base::Result<std::uint16_t> u16() const { return read<std::uint16_t>(); }
  base::Result<std::uint32_t> u32() const { return read<std::uint32_t>(); }
  base::Result<std::uint64_t> u64() const { return read<std::uint64_t>(); }
  base::Result<std::string_view> text() const;  // Up to the NUL, which must be there.
  // Exactly as many bytes as `family` has. Unlike Address::from_bytes it does not turn a mapped address into IPv4: such
  // an address is refused, for it is no address of this family to us.
  base::Result<net::Address> address(net::Family family) const;
  // Zeros: so a newer kernel tells of what is not used.
  bool says_nothing() const;

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  base::Result<T> read() const {
    if (value.size() != sizeof(T)) return wrong_length(sizeof(T));
    T out;
    std::memcpy(&out, value.data(), sizeof(T));
    return out;
  }

 private:
  std::unexpected<base::Error> wrong_length(std::size_t expected) const;
};

std::unexpected<base::Error> length_does_not_fit(std::string_view what, std::size_t length, std::size_t rest);

// The value behind the header that `rest` begins with, its length given by `length` in that header; `rest` then begins
// at the aligned place behind it. Here and below in the header, because a dump is little else than calls of these. The
// header is copied instead of cast: a view may start anywhere, and a fuzzer's does.
template <typename Header, typename Length>
base::Result<std::span<const std::byte>> take_value(std::span<const std::byte>& rest, Header& header,
                                                    Length Header::* length, std::string_view what) {
  if (rest.size() < sizeof header) return length_does_not_fit(what, sizeof header, rest.size());
  std::memcpy(&header, rest.data(), sizeof header);
  const std::size_t size = header.*length;
  if (size < sizeof header || size > rest.size()) return length_does_not_fit(what, size, rest.size());
  const auto value = rest.subspan(sizeof header, size - sizeof header);
  const std::size_t aligned = (size + 3) & ~std::size_t{3};
  rest = rest.subspan(rest.size() < aligned ? rest.size() : aligned);
  return value;
}

// Takes the next attribute off `rest`; an error where a length does not add up. Call while `rest` is not empty.
inline base::Result<Attribute> next_attribute(std::span<const std::byte>& rest) {
  nlattr header;
  const auto value = TRY(take_value(rest, header, &nlattr::nla_len, "attribute"));
  return Attribute{.type = static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK), .value = value};
}

// The struct at the start of `rest`, which then begins at the aligned place behind it.
template <typename T>
  requires std::is_trivially_copyable_v<T>
base::Result<T> take_header(std::span<const std::byte>& rest) {
  if (rest.size() < sizeof(T)) return base::fail(base::Fault::kernel, "netlink message too short for its header");
  T out;
  std::memcpy(&out, rest.data(), sizeof(T));
  constexpr std::size_t kAligned = (sizeof(T) + 3) & ~std::size_t{3};
  rest = rest.subspan(rest.size() < kAligned ? rest.size() : kAligned);
  return out;
}

// One netlink message as received, a view into the receive buffer.
struct Received {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;  // Of the socket that caused it: 0 for the kernel itself.
  std::span<const std::byte> payload;
};

// Takes the next message off a datagram; an error where a length does not add up. Call while `rest` is not empty.
inline base::Result<Received> next_message(std::span<const std::byte>& rest) {
  nlmsghdr header;
  const auto payload = TRY(take_value(rest, header, &nlmsghdr::nlmsg_len, "message"));
  return Received{.type = header.nlmsg_type,
                  .flags = header.nlmsg_flags,
                  .sequence = header.nlmsg_seq,
                  .port = header.nlmsg_pid,
                  .payload = payload};
}

}  // namespace kernel
