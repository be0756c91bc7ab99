#include "cli/steering_obstacles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/source_modes.h"
#include "intent/node/source_sight.h"

namespace cli {
namespace {

constexpr int kStrict = 1;

bool is_kernels(std::uint32_t table) {
  return table == state::kTableMain || table == state::kTableLocal || table == state::kTableDefault;
}

}  // namespace

std::optional<SteeringObstacle> empty_table(const state::NodeFacts& facts, std::uint32_t table, net::Family family) {
  const auto same = [&](const state::TableUse& use) { return use.table == table && use.family == family; };
  const auto use = std::ranges::find_if(facts.tables, same);
  if (use == facts.tables.end() || use->routes > 0) return std::nullopt;
  return SteeringObstacle{
      .code = "IPR0311",
      .what = fmt::format("table {} has no {} route: lookups fall through to main", table, net::text(family))};
}

std::vector<SteeringObstacle> strict_filters(const state::NodeFacts& facts) {
  std::vector<SteeringObstacle> out;
  for (const auto& [device, value] : facts.reverse_path_filter) {
    if (value != kStrict) continue;
    out.push_back({.code = "IPR0310",
                   .what = fmt::format("{} has a strict reverse path filter: packets of connections that are answered "
                                       "by a mark are dropped as they come in",
                                       device.text())});
  }
  return out;
}

std::optional<SteeringObstacle> unseen_sources(const state::NodeFacts& facts,
                                               const std::vector<api::SourceMode>& modes) {
  const auto may_be_met = [&](api::SourceMode mode) {
    return intent::sight_of(mode, facts.service_proxy) != intent::Sight::never;
  };
  if (modes.empty() || std::ranges::any_of(modes, may_be_met)) return std::nullopt;
  std::vector<std::string_view> words;
  for (const api::SourceMode mode : modes) words.push_back(api::text(mode));
  return SteeringObstacle{.code = "IPR0301",
                          .what = fmt::format("no reply carries the source {} behind kube-proxy {}; works there: {}",
                                              fmt::join(words, ", "), state::text(facts.service_proxy),
                                              works_text(source_modes({.proxy = facts.service_proxy})))};
}

std::vector<SteeringObstacle> obstacles_to(const state::NetState& wanted, const state::NodeFacts& facts) {
  std::vector<SteeringObstacle> out;
  for (const auto& [table, family] : tables_of(wanted)) {
    if (auto empty = empty_table(facts, table, family)) out.push_back(*std::move(empty));
  }
  if (wanted.nft) {
    for (SteeringObstacle& strict : strict_filters(facts)) out.push_back(std::move(strict));
  }
  return out;
}

std::set<std::pair<std::uint32_t, net::Family>> tables_of(const state::NetState& wanted) {
  std::set<std::pair<std::uint32_t, net::Family>> out;
  for (const state::Rule& rule : wanted.rules) {
    if (rule.action == state::RuleAction::lookup && !is_kernels(rule.table)) out.emplace(rule.table, rule.family);
  }
  return out;
}

}  // namespace cli
