#include "state/address.h"

#include <fmt/format.h>

#include "state/words.h"

namespace state {
namespace {

using words::refuse;

constexpr std::size_t kMaxLabel = 15;
constexpr std::uint8_t kScopeNowhere = 255;

bool is_v4(const InterfaceAddress& address) {
  return address.local.family() == net::Family::v4;
}

// ipv6_addr_scope(), as far as unicast addresses go.
std::uint8_t scope_of_v6(const net::Address& address) {
  const auto bytes = address.bytes();
  const auto high = std::to_integer<unsigned>(bytes[0]) << 8U | std::to_integer<unsigned>(bytes[1]);
  if ((high & 0xffc0U) == 0xfe80U) return 253;
  if ((high & 0xffc0U) == 0xfec0U) return 200;
  return address == net::Address::parse("::1").value() ? 254 : 0;
}

// 224.0.0.0/4 and ff00::/8.
bool is_group(const net::Address& address) {
  const auto first = std::to_integer<unsigned>(address.bytes()[0]);
  return address.family() == net::Family::v4 ? first >> 4U == 0xeU : first == 0xffU;
}

base::Status check_family(std::string_view field, const InterfaceAddress& address,
                          const std::optional<net::Address>& other) {
  if (!other || other->family() == address.local.family()) return {};
  return refuse(field, fmt::format("{} is not {}", other->text(), net::text(address.local.family())));
}

base::Status check_label(const InterfaceAddress& address) {
  if (address.label.empty()) return {};
  if (!is_v4(address)) return refuse("label", "only for IPv4 addresses");
  if (address.label.size() > kMaxLabel) return refuse("label", fmt::format("longer than {} characters", kMaxLabel));
  if (!address.label.starts_with(address.dev.text())) return refuse("label", "begins with the name of the link");
  if (address.label.find_first_of(" \t\n") != std::string::npos) return refuse("label", "has a blank");
  return {};
}

base::Result<std::uint8_t> prefix_length(const net::Address& address, std::string_view text) {
  const auto length = TRY(words::number<std::uint8_t>("address", text));
  if (length > address.bits()) return words::not_understood("address", text);
  return length;
}

base::Status set_field(InterfaceAddress& address, std::string_view word, std::string_view value) {
  if (word == "dev") {
    address.dev = TRY(words::interface(word, value));
  } else if (word == "peer") {
    address.peer = TRY(words::address(word, value));
  } else if (word == "brd" || word == "broadcast") {
    address.broadcast = TRY(words::address("brd", value));
  } else if (word == "scope") {
    address.scope = TRY(words::number_or_name<std::uint8_t>(word, value, words::kScopes));
  } else if (word == "label") {
    address.label = std::string(value);
  } else if (word == "metric") {
    address.metric = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "preferred_lft") {
    if (value != "0" && value != "forever") return words::not_understood(word, value);
    address.deprecated = value == "0";
  } else if (word == "proto" || word == "protocol") {
    address.protocol = TRY(words::number<std::uint8_t>("protocol", value));
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no word of an address", word));
  }
  return {};
}

}  // namespace

InterfaceAddressKey key(const InterfaceAddress& address) {
  return {.dev = address.dev, .local = address.local, .length = is_v4(address) ? address.length : std::uint8_t{0}};
}

InterfaceAddress canonical(InterfaceAddress address) {
  if (address.label == address.dev.text()) address.label.clear();
  if (address.peer == address.local) address.peer.reset();
  if (!is_v4(address)) address.scope = scope_of_v6(address.local);
  return address;
}

base::Status validate(const InterfaceAddress& address) {
  if (address.dev.empty()) return refuse("dev", "missing");
  if (address.local.is_unspecified()) return refuse("address", "missing");
  if (is_group(address.local)) {
    return refuse("address", fmt::format("{} is a multicast group's", address.local.text()));
  }
  if (address.length == 0 || address.length > address.local.bits()) {
    return refuse("address", fmt::format("prefix length {} is not from 1 to {}", address.length, address.local.bits()));
  }
  TRY(check_family("peer", address, address.peer));
  TRY(check_family("brd", address, address.broadcast));
  if (address.broadcast && !is_v4(address)) return refuse("brd", "only for IPv4 addresses");
  if (address.nodad && is_v4(address)) return refuse("nodad", "only for IPv6 addresses");
  if (address.scope == kScopeNowhere) return refuse("scope", "an address is somewhere");
  return check_label(address);
}

std::string text(const InterfaceAddress& address) {
  std::string out = fmt::format("{}", address.local.text());
  const auto into = std::back_inserter(out);
  if (address.peer) fmt::format_to(into, " peer {}", address.peer->text());
  fmt::format_to(into, "/{}", address.length);
  if (address.broadcast) fmt::format_to(into, " brd {}", address.broadcast->text());
  fmt::format_to(into, " dev {}", address.dev.text());
  if (address.scope != 0) fmt::format_to(into, " scope {}", words::named(words::kScopes, address.scope));
  if (!address.label.empty()) fmt::format_to(into, " label {}", address.label);
  if (address.metric != 0) fmt::format_to(into, " metric {}", address.metric);
  if (address.noprefixroute) out += " noprefixroute";
  if (address.nodad) out += " nodad";
  if (address.deprecated) out += " preferred_lft 0";
  if (address.protocol != 0) fmt::format_to(into, " proto {}", address.protocol);
  return out;
}

base::Result<InterfaceAddress> parse_address(std::string_view text) {
  InterfaceAddress address;
  std::string_view rest = text;
  std::string_view word = words::next(rest);
  if (word.empty()) return refuse("address", "missing");
  const std::string_view local = word.substr(0, word.find('/'));
  address.local = TRY(words::address("address", local));
  std::string_view length = word.substr(local.size());
  while (!(word = words::next(rest)).empty()) {
    if (word == "noprefixroute") {
      address.noprefixroute = true;
    } else if (word == "nodad") {
      address.nodad = true;
    } else {
      std::string_view value = TRY(words::value_of(word, rest));
      if (word == "peer" && value.find('/') != value.npos) {
        length = value.substr(value.find('/'));  // As `ip` writes it, behind the peer.
        value.remove_suffix(length.size());
      }
      TRY(set_field(address, word, value));
    }
  }
  address.length = length.empty() ? static_cast<std::uint8_t>(address.local.bits())
                                  : TRY(prefix_length(address.local, length.substr(1)));
  return canonical(std::move(address));
}

std::string text(const OpaqueAddress& address) {
  return fmt::format("{} ({}) dev {} proto {}", address.key.local.text(), address.reason, address.key.dev.text(),
                     address.protocol);
}

}  // namespace state
