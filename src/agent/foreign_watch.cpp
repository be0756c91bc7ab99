#include "agent/foreign_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "plan/sure_removal.h"

namespace agent {
namespace {

std::string command_to_restore(const state::Rule& rule) {
  const std::string text = state::text(rule);
  return fmt::format("ip {}rule add priority {} {}", rule.family == net::Family::v6 ? "-6 " : "", rule.priority,
                     text.substr(text.find(' ') + 1));
}

}  // namespace

std::vector<state::Rule> ForeignWatch::due(const std::optional<ForeignOrder>& order, const state::NetState& seen,
                                           const plan::Ownership& ownership, base::TimePoint now) {
  next_due_.reset();
  const auto before = std::exchange(since_, {});
  if (!order || !order->prunes) return {};
  std::vector<state::Rule> out;
  for (const state::Rule& rule : plan::foreign_rules(order->scope, seen, ownership)) {
    const auto known = before.find(rule);
    const base::TimePoint since = known != before.end() ? known->second : now;
    since_.emplace(rule, since);
    if (!plan::removal_is_sure(rule, seen, ownership)) continue;
    if (since + period_ > now || out.size() == kMostAtOnce) {
      const base::TimePoint then = std::max(since + period_, now);
      next_due_ = std::min(next_due_.value_or(then), then);
      continue;
    }
    base::log::warning("a rule of others is removed, as foreignRules of the Agent says",
                       {{"rule", state::text(rule)}, {"undo", command_to_restore(rule)}});
    out.push_back(rule);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace agent
