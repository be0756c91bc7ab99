#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "net/address.h"

namespace net {

// A network prefix in canonical form: bits beyond the length are always zero, so equal networks compare equal.
class Prefix {
 public:
  Prefix() = default;  // 0.0.0.0/0
  Prefix(const Address& address, int length) : address_(address.masked(length)), length_(length) {}
  static Prefix host(const Address& address) { return Prefix(address, address.bits()); }

  // As Go's netip.ParsePrefix: "10.0.0.5/24" is 10.0.0.0/24; a bare address is an error that suggests /32 or /128.
  static base::Result<Prefix> parse(std::string_view text);

  const Address& address() const { return address_; }
  int length() const { return length_; }
  Family family() const { return address_.family(); }
  bool is_host() const { return length_ == address_.bits(); }

  bool contains(const Address& address) const {
    return address.family() == family() && address.masked(length_) == address_;
  }
  bool overlaps(const Prefix& other) const {
    return length_ <= other.length_ ? contains(other.address_) : other.contains(address_);
  }

  std::string text() const;  // "10.0.0.0/24"

  auto operator<=>(const Prefix&) const = default;

 private:
  Address address_;
  int length_ = 0;
};

}  // namespace net

template <>
struct std::hash<net::Prefix> {
  std::size_t operator()(const net::Prefix& prefix) const noexcept {
    return std::hash<net::Address>()(prefix.address()) * 31 + static_cast<std::size_t>(prefix.length());
  }
};
