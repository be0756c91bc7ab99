#include "cli/ip_routing_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "json/reader.h"

namespace cli {
namespace {

// Keys of iproute2's print_route() whose value is the value of our word of the same meaning.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kRouteWords = {{
    {"from", "from"},
    {"tos", "tos"},
    {"table", "table"},
    {"protocol", "proto"},
    {"scope", "scope"},
    {"prefsrc", "src"},
    {"metric", "metric"},
    {"pref", "pref"},
}};
// Those that identify a route, also one that cannot be read whole.
constexpr std::array<std::string_view, 4> kKeyWords = {"from", "tos", "table", "metric"};
// What is told elsewhere, or tells nothing about where a packet goes. A nexthop object's way out stands beside its
// number.
constexpr std::array<std::string_view, 10> kRead = {"type",  "dst",      "gateway", "via",     "dev",
                                                    "flags", "nexthops", "metrics", "expires", "nhid"};

// A value as one word: with a blank in it, it would be read as several.
base::Result<std::string> word_of(const json::Value& value) {
  const auto text = value.string();
  std::string out = text ? std::string(*text) : value.text();
  if (out.empty() || out.find_first_of(" \t\n") != std::string::npos) return value.fail("is not one word");
  return out;
}

base::Status add(std::string& out, std::string_view word, const json::Value& value) {
  if (value.exists()) out += fmt::format(" {} {}", word, TRY(word_of(value)));
  return {};
}

base::Status add_hop(std::string& out, const json::Value& hop) {
  TRY(add(out, "via", hop["gateway"]));
  TRY(add(out, "via inet6", hop["via"]["host"]));
  TRY(add(out, "dev", hop["dev"]));
  for (const json::Value& flag : TRY(hop["flags"].items_or_none())) {
    const auto word = TRY(flag.string());
    if (word == "dead") return base::fail(base::Fault::invalid, "its device is dead");
    if (word == "onlink") out += " onlink";
  }
  return {};
}

// The route in the words of `ip route`; an error names the key that has none.
base::Result<std::string> route_words(const json::Value& route) {
  std::string out = route["type"].exists() ? TRY(word_of(route["type"])) + " " : "";
  out += TRY(word_of(route["dst"]));
  for (const json::Member& member : TRY(route.members())) {
    const auto* const known = std::ranges::find(kRouteWords, member.key, [](const auto& entry) { return entry.first; });
    if (known != kRouteWords.end()) {
      TRY(add(out, known->second, member.value));
    } else if (std::ranges::find(kRead, member.key) == kRead.end()) {
      return base::fail(base::Fault::invalid, fmt::format("{} {}", member.key, member.value.text()));
    }
  }
  // It says nothing of the number that it takes for everybody's.
  if (!route["protocol"].exists()) out += " proto boot";
  TRY(add_hop(out, route));
  for (const json::Value& hop : TRY(route["nexthops"].items_or_none())) {
    out += " nexthop";
    TRY(add_hop(out, hop));
    TRY(add(out, "weight", hop["weight"]));
  }
  const bool has_way = route["dev"].exists() || route["nexthops"].exists();
  if (route["nhid"].exists() && !has_way) TRY(add(out, "nhid", route["nhid"]));
  return out;
}

base::Result<state::RouteKey> key_of(net::Family family, const json::Value& route) {
  std::string words = TRY(word_of(route["dst"]));
  for (const std::string_view word : kKeyWords) TRY(add(words, word, route[word]));
  return key(TRY(base::within(route.path(), state::parse_route(family, words))));
}

// `default` has no family of its own; IPv6 alone has a preference.
net::Family route_family(const json::Value& route, net::Family otherwise) {
  if (route["pref"].exists()) return net::Family::v6;
  for (const std::string_view field : {"dst", "gateway", "prefsrc"}) {
    const auto text = route[field].string_or("");
    if (!text || text->empty()) continue;
    if (const auto prefix = net::Prefix::parse(*text)) return prefix->family();
    if (const auto address = net::Address::parse(*text)) return address->family();
  }
  return otherwise;
}

state::LinkKind kind_of(std::string_view word) {
  if (word == "dummy") return state::LinkKind::dummy;
  if (word == "vlan") return state::LinkKind::vlan;
  return word == "vrf" ? state::LinkKind::vrf : state::LinkKind::other;
}

base::Result<net::InterfaceName> name_of(const json::Value& value) {
  return base::within(value.path(), net::InterfaceName::parse(TRY(value.string())));
}

base::Result<state::ObservedLink> link_of(const json::Value& value) {
  state::ObservedLink out;
  out.link.name = TRY(name_of(value["ifname"]));
  out.index = TRY(value["ifindex"].integer_or<std::uint32_t>(0));
  out.link.mtu = TRY(value["mtu"].integer_or<std::uint32_t>(0));
  out.link.alias = TRY(value["ifalias"].string_or(""));
  if (value["master"].exists()) out.link.master = TRY(name_of(value["master"]));
  for (const json::Value& flag : TRY(value["flags"].items_or_none())) {
    const auto word = TRY(flag.string());
    out.link.up = out.link.up || word == "UP";
    out.carrier = out.carrier || word == "LOWER_UP";
  }
  const json::Value data = value["linkinfo"]["info_data"];
  out.link.kind = kind_of(TRY(value["linkinfo"]["info_kind"].string_or("")));
  if (out.link.kind == state::LinkKind::vrf) out.link.table = TRY(data["table"].integer<std::uint32_t>());
  if (out.link.kind == state::LinkKind::vlan) {
    out.link.vlan.id = TRY(data["id"].integer<std::uint16_t>());
    const bool is_outer = TRY(data["protocol"].string_or("802.1Q")) != "802.1Q";
    out.link.vlan.protocol = is_outer ? state::VlanProtocol::dot1ad : state::VlanProtocol::dot1q;
    if (value["link"].exists()) out.link.vlan.parent = TRY(name_of(value["link"]));
  }
  return out;
}

base::Status take_addresses(const json::Value& link, const net::InterfaceName& dev, DumpedLinks& into) {
  constexpr std::int64_t kForEver = std::numeric_limits<std::uint32_t>::max();
  for (const json::Value& one : TRY(link["addr_info"].items_or_none())) {
    if (!one["local"].exists()) continue;  // `ip addr show up` leaves empty ones behind.
    const auto text = TRY(one["local"].string());
    const auto local = TRY(base::within(one["local"].path(), net::Address::parse(text)));
    const auto length = static_cast<std::uint8_t>(TRY(one["prefixlen"].integer_between(0, local.bits())));
    if (TRY(one["valid_life_time"].integer_or<std::int64_t>(kForEver)) < kForEver) {
      into.leases.push_back({.key = {.dev = dev, .local = local, .length = length}, .reason = "it has an end"});
    } else {
      into.addresses.push_back({.dev = dev, .local = local, .length = length});
    }
  }
  return {};
}

}  // namespace

base::Result<DumpedRoutes> parse_ip_routes(net::Family otherwise, std::string_view json) {
  json::Reader reader;
  const auto root = TRY(reader.parse(json));
  DumpedRoutes out;
  for (const json::Value& item : TRY(root.items())) {
    const net::Family family = route_family(item, otherwise);
    const auto words = route_words(item);
    const auto route = words ? state::parse_route(family, *words) : std::unexpected(words.error());
    if (route) {
      out.routes.push_back(*route);
    } else {
      out.unread.push_back({.key = TRY(key_of(family, item)), .reason = route.error().message()});
    }
  }
  return out;
}

base::Result<DumpedLinks> parse_ip_links(std::string_view json) {
  json::Reader reader;
  const auto root = TRY(reader.parse(json));
  DumpedLinks out;
  for (const json::Value& item : TRY(root.items())) {
    if (!item["ifname"].exists()) continue;  // `ip -j addr` with a filter leaves empty ones behind.
    out.links.push_back(TRY(link_of(item)));
    TRY(take_addresses(item, out.links.back().link.name, out));
  }
  return out;
}

}  // namespace cli
