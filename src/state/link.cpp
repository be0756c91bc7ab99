#include "state/link.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "state/rule.h"
#include "state/words.h"

namespace state {
namespace {

using words::refuse;

constexpr std::string_view kAliasPrefix = "iprule:";
constexpr std::size_t kMaxAlias = 255;  // IFALIASZ with its NUL.
constexpr std::uint16_t kMaxVlan = 4094;
constexpr std::uint32_t kMinMtu = 68;     // What IPv4 needs, RFC 791: below it the kernel takes IPv4 off the link.
constexpr std::uint32_t kMaxMtu = 65575;  // IP6_MAX_MTU: no packet is longer.

constexpr std::array<std::pair<LinkKind, std::string_view>, 3> kKinds = {
    {{LinkKind::dummy, "dummy"}, {LinkKind::vlan, "vlan"}, {LinkKind::vrf, "vrf"}}};
constexpr std::array<std::pair<VlanProtocol, std::string_view>, 2> kVlanProtocols = {
    {{VlanProtocol::dot1q, "802.1Q"}, {VlanProtocol::dot1ad, "802.1ad"}}};

base::Status check_kind(const Link& link) {
  if (link.kind != LinkKind::vlan && link.vlan != Vlan{}) return refuse("id", "only for a vlan");
  if (link.kind != LinkKind::vrf && link.table != 0) return refuse("table", "only for a vrf");
  switch (link.kind) {
    case LinkKind::other:
      return refuse("type", "is none that can be made");
    case LinkKind::dummy:
      return {};
    case LinkKind::vlan:
      if (link.vlan.parent.empty()) return refuse("link", "a vlan needs a link below it");
      if (link.vlan.parent == link.name) return refuse("link", "a vlan cannot be on itself");
      if (link.vlan.id == 0 || link.vlan.id > kMaxVlan) {
        return refuse("id", fmt::format("{} is not from 1 to {}", link.vlan.id, kMaxVlan));
      }
      return {};
    case LinkKind::vrf:
      if (link.table == 0) return refuse("table", "missing");
      return validate_table(link.table);
  }
  return {};
}

base::Status check_alias(const Link& link) {
  if (!owner_of(link.alias)) return refuse("alias", fmt::format("does not begin with {}", kAliasPrefix));
  if (link.alias.size() > kMaxAlias) return refuse("alias", fmt::format("longer than {} characters", kMaxAlias));
  if (link.alias.find_first_of(" \t\n") != std::string::npos) return refuse("alias", "has a blank");
  return {};
}

template <typename Enum, std::size_t N>
base::Result<Enum> meaning(const std::array<std::pair<Enum, std::string_view>, N>& table, std::string_view field,
                           std::string_view word) {
  for (const auto& [value, known] : table) {
    if (known == word) return value;
  }
  return words::not_understood(field, word);
}

base::Status set_field(Link& link, std::string_view word, std::string_view value) {
  if (word == "link") {
    link.vlan.parent = TRY(words::interface(word, value));
  } else if (word == "type") {
    link.kind = TRY(meaning(kKinds, word, value));
  } else if (word == "protocol") {
    link.vlan.protocol = TRY(meaning(kVlanProtocols, word, value));
  } else if (word == "id") {
    link.vlan.id = TRY(words::number<std::uint16_t>(word, value));
  } else if (word == "table") {
    link.table = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "master") {
    link.master = TRY(words::interface(word, value));
  } else if (word == "mtu") {
    link.mtu = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "alias") {
    link.alias = std::string(value);
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no word of a link", word));
  }
  return {};
}

}  // namespace

std::string own_alias(std::string_view owner) {
  return fmt::format("{}{}", kAliasPrefix, owner);
}

std::optional<std::string_view> owner_of(std::string_view alias) {
  if (!alias.starts_with(kAliasPrefix)) return std::nullopt;
  return alias.substr(kAliasPrefix.size());
}

bool satisfies(const Link& observed, const Link& desired) {
  if (desired.mtu != 0) return observed == desired;
  Link same = desired;
  same.mtu = observed.mtu;
  return observed == same;
}

base::Status validate(const Link& link) {
  if (link.name.empty()) return refuse("name", "missing");
  TRY(check_kind(link));
  if (link.master == link.name) return refuse("master", "a link cannot be in itself");
  if (link.mtu != 0 && (link.mtu < kMinMtu || link.mtu > kMaxMtu)) {
    return refuse("mtu", fmt::format("{} is not from {} to {}", link.mtu, kMinMtu, kMaxMtu));
  }
  return check_alias(link);
}

std::string text(const Link& link) {
  std::string out(link.name.text());
  const auto into = std::back_inserter(out);
  if (!link.vlan.parent.empty()) fmt::format_to(into, " link {}", link.vlan.parent.text());
  if (!link.master.empty()) fmt::format_to(into, " master {}", link.master.text());
  if (link.mtu != 0) fmt::format_to(into, " mtu {}", link.mtu);
  if (link.up) out += " up";
  if (!link.alias.empty()) fmt::format_to(into, " alias {}", link.alias);
  for (const auto& [kind, word] : kKinds) {
    if (link.kind == kind) fmt::format_to(into, " type {}", word);
  }
  for (const auto& [protocol, word] : kVlanProtocols) {
    if (link.kind == LinkKind::vlan && link.vlan.protocol == protocol) fmt::format_to(into, " protocol {}", word);
  }
  if (link.vlan.id != 0) fmt::format_to(into, " id {}", link.vlan.id);
  if (link.table != 0) fmt::format_to(into, " table {}", link.table);
  return out;
}

base::Result<Link> parse_link(std::string_view text) {
  Link link;
  std::string_view rest = text;
  link.name = TRY(words::interface("name", words::next(rest)));
  for (std::string_view word = words::next(rest); !word.empty(); word = words::next(rest)) {
    if (word == "up" || word == "down") {
      link.up = word == "up";
      continue;
    }
    const std::string_view value = TRY(words::value_of(word, rest));
    TRY(set_field(link, word, value));
  }
  return link;
}

}  // namespace state
