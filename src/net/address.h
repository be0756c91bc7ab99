#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace net {

enum class Family : std::uint8_t { v4, v6 };

std::string_view text(Family family);  // "IPv4", "IPv6"
constexpr int address_bits(Family family) {
  return family == Family::v4 ? 32 : 128;
}

// An IPv4 or IPv6 address without a zone. An IPv4-mapped IPv6 address is the IPv4 address it stands for: no IPv4
// packet ever meets the mapped form.
class Address {
 public:
  Address() = default;  // 0.0.0.0

  // Strict, as Go's netip: no leading zeros, no blanks, no zone.
  static base::Result<Address> parse(std::string_view text);
  // 4 or 16 bytes in network order; any other length is an error.
  static base::Result<Address> from_bytes(std::span<const std::byte> bytes);

  Family family() const { return family_; }
  int bits() const { return address_bits(family_); }
  std::span<const std::byte> bytes() const;  // In network order.
  bool is_unspecified() const;

  std::string text() const;  // RFC 5952 for IPv6.

  // The first `length` bits; the rest is zero.
  Address masked(int length) const;

  // IPv4 before IPv6, then by number.
  auto operator<=>(const Address&) const = default;

 private:
  Family family_ = Family::v4;
  std::array<std::byte, 16> bytes_{};
};

}  // namespace net

template <>
struct std::hash<net::Address> {
  std::size_t operator()(const net::Address& address) const noexcept;
};
