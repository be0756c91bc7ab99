#include "cli/table_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "intent/cluster/prospect.h"
#include "state/words.h"

namespace cli {
namespace {

using kernel::rtnl::Answering;
using kernel::rtnl::Neighbour;
using Level = Line::Level;

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

// The ways out of a table's default route; none where it has no such route, or leaves it to a nexthop object.
std::vector<state::RouteHop> default_hops(const state::NetState& observed, const state::TableUse& use) {
  std::vector<state::RouteHop> out;
  for (const state::Route& route : observed.routes) {
    if (route.table != use.table || route.family != use.family || route.to.length() != 0) continue;
    out.insert(out.end(), route.hops.begin(), route.hops.end());
  }
  return out;
}

// What the kernel knows of the gateway; nothing where it never had to ask.
std::optional<Answering> answering(const std::vector<Neighbour>& neighbours, const state::RouteHop& hop) {
  const auto same = [&](const Neighbour& one) { return one.dev == hop.dev && one.address == hop.via; };
  const auto found = std::ranges::find_if(neighbours, same);
  return found != neighbours.end() ? std::optional(found->answering) : std::nullopt;
}

std::string gateway_text(const std::optional<Answering>& known) {
  if (!known) return "";
  switch (*known) {
    case Answering::yes:
      return ", gateway answers";
    case Answering::formerly:
      return ", gateway has answered";
    case Answering::no:
      return ", gateway does not answer";
  }
  return "";
}

// "default via 198.51.100.1 dev eth1, gateway answers"
std::string hop_text(const state::RouteHop& hop, const std::optional<Answering>& known) {
  return fmt::format("{}dev {}{}", hop.via ? fmt::format("via {} ", hop.via->text()) : "", hop.dev.text(),
                     gateway_text(known));
}

std::string devices_text(const state::TableUse& use) {
  std::vector<std::string> names;
  for (const auto& device : use.devices) names.emplace_back(device.text());
  return fmt::format("{} {} route{}{}", use.routes, net::text(use.family), use.routes == 1 ? "" : "s",
                     names.empty() ? "" : " by " + joined(names));
}

Line line_of(const Examined& node, const state::TableUse& use) {
  Line out{.level = Level::ok,
           .subject = fmt::format("table {}", state::words::named(state::words::kTables, use.table)),
           .text = {}};
  if (use.routes == 0) {
    out.level = Level::warn;
    out.text = fmt::format("no {} route: lookups fall through to the next rule", net::text(use.family));
    out.code = "IPR0311";
    return out;
  }
  const auto hops = node.observed ? default_hops(*node.observed, use) : std::vector<state::RouteHop>();
  if (hops.empty()) {
    out.text = devices_text(use);
    return out;
  }
  std::vector<std::string> texts;
  for (const state::RouteHop& hop : hops) {
    const auto known = answering(node.neighbours, hop);
    texts.push_back(hop_text(hop, known));
    if (known != Answering::no) continue;
    out.level = Level::warn;
    out.code = "IPR0312";
  }
  out.text = fmt::format("{}default {}", use.family == net::Family::v6 ? "IPv6 " : "", joined(texts));
  return out;
}

bool is_wished(const Examined& node, const state::TableUse& use) {
  if (!node.wishes) return false;
  return std::ranges::any_of(node.wishes->rules, [&](const api::IPRule& rule) {
    const auto prefixes = api::accept(rule).prefixes;
    return intent::table_on(rule.spec, node.report.facts) == use.table &&
           std::ranges::find(prefixes, use.family, &net::Prefix::family) != prefixes.end();
  });
}

// A table may lack the routes of a family that nobody looks up in it. A report tells only of those that are looked up.
bool is_looked_up(const Examined& node, const state::TableUse& use) {
  if (!node.observed || is_wished(node, use)) return true;
  return std::ranges::any_of(node.observed->rules, [&](const state::Rule& rule) {
    return rule.protocol == node.protocol && rule.table == use.table && rule.family == use.family;
  });
}

}  // namespace

std::vector<Line> table_lines(const Examined& node) {
  std::vector<Line> out;
  for (const state::TableUse& use : node.facts.tables) {
    if (use.routes > 0 || is_looked_up(node, use)) out.push_back(line_of(node, use));
  }
  return out;
}

}  // namespace cli
