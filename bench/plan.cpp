#include <chrono>

#include "bench/measure.h"
#include "bench/samples.h"
#include "plan/diff.h"

namespace bench {
namespace {

base::Result<double> diff_ten_changed(std::uint32_t rules) {
  const state::Observation observed = state::Verified{many_rules(rules)};
  state::NetState desired = many_rules(rules);
  for (std::size_t i = 0; i < 10; ++i) desired.rules[i * (rules / 10 - 1)].table = 200;
  return timed([&]() -> base::Status {
    const auto plan = plan::diff(observed, desired, {});
    if (plan.ops.size() != 20) return base::fail(base::Fault::bug, "the plan has not 20 operations");
    return {};
  });
}

}  // namespace

Group plan_group() {
  return {
      .name = "plan",
      .promises = {{.name = "20,000 rules, 10 changed", .ours = [] { return diff_ten_changed(20'000); }, .budget = 10}},
      .growth = {{.name = "diff of n rules, 10 changed", .least = 10'000, .expected = 1, .work = diff_ten_changed}}};
}

}  // namespace bench
