#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"

namespace state {

// One address of a link, with no end of its life: those that expire are somebody's lease and opaque to us.
struct InterfaceAddress {
  net::InterfaceName dev{};
  net::Address local{};
  std::uint8_t length = 0;                  // Of the subnet: host bits are kept.
  std::optional<net::Address> peer{};       // Point to point: the other end.
  std::optional<net::Address> broadcast{};  // IPv4.
  std::uint8_t scope = 0;
  std::string label{};         // IPv4; empty means the link's own name.
  std::uint32_t metric = 0;    // Of the connected route.
  bool noprefixroute = false;  // No connected route.
  bool nodad = false;          // IPv6: in use at once.
  bool deprecated = false;     // `preferred_lft 0`: never chosen as a source.
  std::uint8_t protocol = 0;   // Who made it (IFA_PROTO, Linux 5.18): ours is Ownership's number.

  auto operator<=>(const InterfaceAddress&) const = default;
};

// The kernel's identity for addresses: a second one with the same key is refused. IPv6 does not look at the length, so
// it is 0 here.
struct InterfaceAddressKey {
  net::InterfaceName dev{};
  net::Address local{};
  std::uint8_t length = 0;

  auto operator<=>(const InterfaceAddressKey&) const = default;
};
InterfaceAddressKey key(const InterfaceAddress& address);

// The one form of addresses that mean the same: a label that is the link's name is none, IPv6's scope is in the
// address.
InterfaceAddress canonical(InterfaceAddress address);

// What the kernel would refuse, or take for something else than it says; the message begins with the field's name.
base::Status validate(const InterfaceAddress& address);

// In the words of `ip addr add`: "10.0.0.2/24 dev eth0 proto 183". parse_address() takes every text() back.
std::string text(const InterfaceAddress& address);
base::Result<InterfaceAddress> parse_address(std::string_view text);

// An observed address with something in it that we do not know, a lifetime for one: never equal, foreign unless its
// protocol says otherwise.
struct OpaqueAddress {
  InterfaceAddressKey key{};
  std::uint8_t protocol = 0;
  std::string reason{};

  auto operator<=>(const OpaqueAddress&) const = default;
};
std::string text(const OpaqueAddress& address);

}  // namespace state

template <>
struct std::hash<state::InterfaceAddressKey> {
  std::size_t operator()(const state::InterfaceAddressKey& key) const noexcept {
    return std::hash<net::Address>()(key.local) * 31 + std::hash<net::InterfaceName>()(key.dev) + key.length;
  }
};
