#include <array>
#include <chrono>

#include "bench/measure.h"
#include "bench/rules.h"
#include "plan/diff.h"

namespace bench {

state::NetState many_rules(std::uint32_t count) {
  state::NetState out;
  out.rules.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::array<std::byte, 4> raw = {std::byte{10}, static_cast<std::byte>(i >> 16U),
                                          static_cast<std::byte>(i >> 8U), static_cast<std::byte>(i)};
    state::Rule rule{.priority = 1000, .protocol = 183, .table = 100};
    rule.selector.from = net::Prefix::host(net::Address::from_bytes(raw).value());
    out.rules.push_back(rule);
  }
  return out;
}

std::vector<Promise> plan_promises() {
  const auto diff_ten_changed = []() -> base::Result<double> {
    const state::Observation observed = state::Verified{many_rules(20'000)};
    state::NetState desired = many_rules(20'000);
    for (std::size_t i = 0; i < 10; ++i) desired.rules[i * 1999].table = 200;
    const auto start = std::chrono::steady_clock::now();
    const auto plan = plan::diff(observed, desired, {});
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (plan.ops.size() != 20) return base::fail(base::Fault::bug, "the plan has not 20 operations");
    return time.count();
  };
  return {{.name = "plan: 20,000 rules, 10 changed", .ours = diff_ten_changed, .budget = 10}};
}

}  // namespace bench
