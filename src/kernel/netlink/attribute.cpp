#include "kernel/netlink/attribute.h"

#include <algorithm>

#include <fmt/format.h>

namespace kernel {

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

bool Attribute::says_nothing() const {
  return std::ranges::all_of(value, [](std::byte byte) { return byte == std::byte{}; });
}

std::unexpected<base::Error> length_does_not_fit(std::string_view what, std::size_t length, std::size_t rest) {
  return base::fail(base::Fault::kernel, fmt::format("netlink {} of {} bytes in {}", what, length, rest));
}

}  // namespace kernel
