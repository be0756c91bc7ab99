#include "state/baseline.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace state {
namespace {

struct Baseline {
  net::Family family;
  std::uint32_t table;
  std::string_view name;
};

// The kernel makes no `default` for IPv6.
constexpr std::array<Baseline, 5> kBaseline = {{{net::Family::v4, kTableLocal, "local"},
                                                {net::Family::v4, kTableMain, "main"},
                                                {net::Family::v4, kTableDefault, "default"},
                                                {net::Family::v6, kTableLocal, "local"},
                                                {net::Family::v6, kTableMain, "main"}}};

bool is_there(const Baseline& baseline, const NetState& observed) {
  const auto is_it = [&](const Rule& rule) {
    return rule.family == baseline.family && rule.action == RuleAction::lookup && rule.table == baseline.table &&
           rule.selector == Selector() && !rule.suppress_prefixlength;
  };
  return std::ranges::any_of(observed.rules, is_it);
}

bool has_ipv6(const NetState& observed) {
  return std::ranges::any_of(observed.rules, [](const Rule& rule) { return rule.family == net::Family::v6; });
}

}  // namespace

std::vector<std::string> missing_baseline(const NetState& observed) {
  std::vector<std::string> out;
  for (const Baseline& baseline : kBaseline) {
    if (baseline.family == net::Family::v6 && !has_ipv6(observed)) continue;
    if (!is_there(baseline, observed)) out.push_back(fmt::format("{} {}", net::text(baseline.family), baseline.name));
  }
  return out;
}

}  // namespace state
