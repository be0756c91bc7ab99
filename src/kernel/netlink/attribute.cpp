#include "kernel/netlink/attribute.h"

#include <algorithm>
#include <linux/netlink.h>

#include <fmt/format.h>

namespace kernel {
namespace {

constexpr std::size_t aligned(std::size_t length) {
  return (length + NLMSG_ALIGNTO - 1) & ~std::size_t{NLMSG_ALIGNTO - 1};
}

// Copies instead of casting: a view may start anywhere, and a fuzzer's does.
template <typename Header>
base::Result<Header> header_at(std::span<const std::byte> rest, std::string_view what) {
  Header header;
  if (rest.size() < sizeof(header)) return base::fail(base::Fault::kernel, fmt::format("cut {} header", what));
  std::memcpy(&header, rest.data(), sizeof(header));
  return header;
}

}  // namespace

std::unexpected<base::Error> Attribute::wrong_length(std::size_t expected) const {
  return base::fail(base::Fault::kernel,
                    fmt::format("netlink attribute {} has {} bytes, not {}", type, value.size(), expected));
}

base::Result<std::string_view> Attribute::text() const {
  const auto end = std::ranges::find(value, std::byte{});
  if (end == value.end()) return base::fail(base::Fault::kernel, fmt::format("netlink text {} has no end", type));
  return std::string_view(reinterpret_cast<const char*>(value.data()), static_cast<std::size_t>(end - value.begin()));
}

base::Result<net::Address> Attribute::address(net::Family family) const {
  const std::size_t size = family == net::Family::v4 ? 4 : 16;
  if (value.size() != size) return wrong_length(size);
  const auto address = TRY(net::Address::from_bytes(value));
  if (address.family() != family) {
    return base::fail(base::Fault::invalid, fmt::format("IPv6 attribute {} holds a mapped IPv4 address", type));
  }
  return address;
}

base::Result<Attribute> next_attribute(std::span<const std::byte>& rest) {
  const auto header = TRY(header_at<nlattr>(rest, "attribute"));
  if (header.nla_len < sizeof(header) || header.nla_len > rest.size()) {
    return base::fail(base::Fault::kernel,
                      fmt::format("netlink attribute of {} bytes in {}", header.nla_len, rest.size()));
  }
  Attribute out{.type = static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK),
                .value = rest.subspan(sizeof(header), header.nla_len - sizeof(header))};
  rest = rest.subspan(std::min(rest.size(), aligned(header.nla_len)));
  return out;
}

base::Result<Received> next_message(std::span<const std::byte>& rest) {
  const auto header = TRY(header_at<nlmsghdr>(rest, "message"));
  if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.size()) {
    return base::fail(base::Fault::kernel,
                      fmt::format("netlink message of {} bytes in {}", header.nlmsg_len, rest.size()));
  }
  Received out{.type = header.nlmsg_type,
               .flags = header.nlmsg_flags,
               .sequence = header.nlmsg_seq,
               .port = header.nlmsg_pid,
               .payload = rest.subspan(sizeof(header), header.nlmsg_len - sizeof(header))};
  rest = rest.subspan(std::min(rest.size(), aligned(header.nlmsg_len)));
  return out;
}

}  // namespace kernel
