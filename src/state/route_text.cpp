#include <array>
#include <utility>

#include <fmt/format.h>

#include "state/opaque_route.h"
#include "state/route.h"
#include "state/rule.h"
#include "state/words.h"

// Words and order as in iproute2's print_route() and iproute_modify().
namespace state {
namespace {

constexpr std::array<std::pair<RouteType, std::string_view>, 9> kTypes = {{{RouteType::unicast, "unicast"},
                                                                           {RouteType::local, "local"},
                                                                           {RouteType::broadcast, "broadcast"},
                                                                           {RouteType::anycast, "anycast"},
                                                                           {RouteType::multicast, "multicast"},
                                                                           {RouteType::blackhole, "blackhole"},
                                                                           {RouteType::unreachable, "unreachable"},
                                                                           {RouteType::prohibit, "prohibit"},
                                                                           {RouteType::throw_back, "throw"}}};
constexpr std::array<std::pair<RoutePreference, std::string_view>, 3> kPreferences = {
    {{RoutePreference::medium, "medium"}, {RoutePreference::high, "high"}, {RoutePreference::low, "low"}}};
constexpr std::array<std::pair<MetricKind, std::string_view>, 11> kMetrics = {
    {{MetricKind::mtu, "mtu"},
     {MetricKind::window, "window"},
     {MetricKind::ssthresh, "ssthresh"},
     {MetricKind::cwnd, "cwnd"},
     {MetricKind::advmss, "advmss"},
     {MetricKind::reordering, "reordering"},
     {MetricKind::hoplimit, "hoplimit"},
     {MetricKind::initcwnd, "initcwnd"},
     {MetricKind::initrwnd, "initrwnd"},
     {MetricKind::quickack, "quickack"},
     {MetricKind::fastopen_no_cookie, "fastopen_no_cookie"}}};

template <typename Enum, std::size_t N>
std::string_view word_of(const std::array<std::pair<Enum, std::string_view>, N>& table, Enum value) {
  for (const auto& [known, word] : table) {
    if (known == value) return word;
  }
  return "?";
}

template <typename Enum, std::size_t N>
std::optional<Enum> meaning_of(const std::array<std::pair<Enum, std::string_view>, N>& table, std::string_view word) {
  for (const auto& [value, known] : table) {
    if (known == word) return value;
  }
  return std::nullopt;
}

std::string prefix_text(const net::Prefix& prefix) {
  if (prefix.length() == 0) return "default";
  return prefix.is_host() ? prefix.address().text() : prefix.text();
}

void append_hop(std::string& out, net::Family family, const RouteHop& hop) {
  const auto into = std::back_inserter(out);
  if (hop.via) fmt::format_to(into, " via {}{}", hop.via->family() == family ? "" : "inet6 ", hop.via->text());
  if (!hop.dev.empty()) fmt::format_to(into, " dev {}", hop.dev.text());
}

void append_hops(std::string& out, const Route& route) {
  for (const RouteHop& hop : route.hops) {
    out += " nexthop";
    append_hop(out, route.family, hop);
    fmt::format_to(std::back_inserter(out), " weight {}{}", hop.weight, hop.onlink ? " onlink" : "");
  }
}

void append_metrics(std::string& out, const Route& route) {
  for (const RouteMetric& metric : route.metrics) {
    fmt::format_to(std::back_inserter(out), " {}{} {}", word_of(kMetrics, metric.kind), metric.locked ? " lock" : "",
                   metric.value);
  }
}

base::Result<net::Prefix> prefix(net::Family family, std::string_view field, std::string_view text) {
  if (text == "default" || text == "all" || text == "any") {
    return family == net::Family::v4 ? net::Prefix() : TRY(net::Prefix::parse("::/0"));
  }
  if (text.find('/') == text.npos) return net::Prefix::host(TRY(words::address(field, text)));
  return TRY(base::within(field, net::Prefix::parse(text)));
}

// `word` and its value into the hop; false if it is no word of a hop.
base::Result<bool> set_hop(RouteHop& hop, std::string_view word, std::string_view& rest) {
  if (word == "onlink") {
    hop.onlink = true;
    return true;
  }
  if (word != "via" && word != "dev" && word != "weight") return false;
  std::string_view value = TRY(words::value_of(word, rest));
  if (word == "via") {
    if (value == "inet6" || value == "inet") value = TRY(words::value_of(word, rest));
    hop.via = TRY(words::address(word, value));
  } else if (word == "dev") {
    hop.dev = TRY(words::interface(word, value));
  } else {
    hop.weight = TRY(words::number<std::uint16_t>(word, value));
  }
  return true;
}

base::Result<RouteMetric> metric(MetricKind kind, std::string_view word, std::string_view& rest) {
  RouteMetric out{.kind = kind};
  std::string_view value = TRY(words::value_of(word, rest));
  if (value == "lock") {
    out.locked = true;
    value = TRY(words::value_of(word, rest));
  }
  out.value = TRY(words::number<std::uint32_t>(word, value));
  return out;
}

base::Status set_field(Route& route, std::string_view word, std::string_view& rest) {
  if (const auto kind = meaning_of(kMetrics, word)) {
    route.metrics.push_back(TRY(metric(*kind, word, rest)));
    return {};
  }
  const std::string_view value = TRY(words::value_of(word, rest));
  if (word == "from") {
    route.from = TRY(prefix(route.family, word, value));
  } else if (word == "tos") {
    route.tos = TRY(words::number<std::uint8_t>(word, value));
  } else if (word == "nhid") {
    route.nexthop = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "table") {
    route.table = TRY(words::number_or_name<std::uint32_t>(word, value, words::kTables));
  } else if (word == "proto" || word == "protocol") {
    route.protocol = TRY(words::number_or_name<std::uint8_t>("protocol", value, words::kProtocols));
  } else if (word == "scope") {
    route.scope = TRY(words::number_or_name<std::uint8_t>(word, value, words::kScopes));
  } else if (word == "src") {
    route.source = TRY(words::address(word, value));
  } else if (word == "metric") {
    route.metric = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "pref") {
    const auto preference = meaning_of(kPreferences, value);
    if (!preference) return words::not_understood(word, value);
    route.preference = *preference;
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no word of a route", word));
  }
  return {};
}

}  // namespace

std::string text(const Route& route) {
  std::string out;
  const auto into = std::back_inserter(out);
  if (route.type != RouteType::unicast) fmt::format_to(into, "{} ", word_of(kTypes, route.type));
  out += prefix_text(route.to);
  if (route.from) fmt::format_to(into, " from {}", prefix_text(*route.from));
  if (route.tos != 0) fmt::format_to(into, " tos {:#04x}", route.tos);
  if (route.nexthop != 0) fmt::format_to(into, " nhid {}", route.nexthop);
  const RouteHop* const only = route.hops.size() == 1 ? &route.hops.front() : nullptr;
  if (only != nullptr) append_hop(out, route.family, *only);
  if (route.table != kTableMain) fmt::format_to(into, " table {}", words::named(words::kTables, route.table));
  if (route.protocol != 0) fmt::format_to(into, " proto {}", words::named(words::kProtocols, route.protocol));
  if (route.scope != kScopeGlobal) fmt::format_to(into, " scope {}", words::named(words::kScopes, route.scope));
  if (route.source) fmt::format_to(into, " src {}", route.source->text());
  if (route.metric != 0) fmt::format_to(into, " metric {}", route.metric);
  if (only != nullptr && only->onlink) out += " onlink";
  append_metrics(out, route);
  if (only == nullptr) append_hops(out, route);
  if (route.preference != RoutePreference::medium) {
    fmt::format_to(into, " pref {}", word_of(kPreferences, route.preference));
  }
  return out;
}

std::string text(const OpaqueRoute& route) {
  return fmt::format("{} ({}) table {} proto {}", prefix_text(route.key.to), route.reason,
                     words::named(words::kTables, route.key.table), words::named(words::kProtocols, route.protocol));
}

base::Result<Route> parse_route(net::Family family, std::string_view text) {
  Route route{.family = family, .table = kTableMain};
  std::string_view rest = text;
  std::string_view word = words::next(rest);
  if (const auto type = meaning_of(kTypes, word)) {
    route.type = *type;
    word = words::next(rest);
  }
  if (word.empty()) return words::refuse("to", "missing");
  route.to = TRY(prefix(family, "to", word));

  RouteHop single;
  RouteHop* hop = &single;
  while (!(word = words::next(rest)).empty()) {
    if (word == "nexthop") {
      hop = &route.hops.emplace_back();
    } else if (!TRY(set_hop(*hop, word, rest))) {
      TRY(set_field(route, word, rest));
    }
  }
  if (single != RouteHop{}) route.hops.push_back(single);
  return canonical(std::move(route));
}

}  // namespace state
