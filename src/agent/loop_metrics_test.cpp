#include "agent/loop_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using testing::HasSubstr;

Pass pass() {
  Pass out;
  out.wanted.state.rules = {{.priority = 1}, {.priority = 2}, {.priority = 3}};
  out.report.done.ops = {plan::AddRule{}, plan::AddRule{}, plan::RemoveRule{}};
  out.report.outcome.results = {
      {}, {.effect = kernel::Effect::failed, .status = base::fail(base::Fault::kernel, "no")}, {}};
  out.report.left.ops = {plan::AddRule{}};
  out.report.after =
      state::Verified{.state = {.rules = {{.protocol = 2}, {.protocol = 183}, {.protocol = 183}, {.protocol = 4}}}};
  out.own_rules = 2;
  out.repairs = 1;
  return out;
}

TEST(LoopMetrics, they_count_what_was_done_and_what_is_there) {
  metrics::Registry registry;
  LoopMetrics metrics(registry);
  metrics.note(pass());
  const std::string text = registry.text();
  for (const char* line : {"iprule_agent_rules_added_total 1\n", "iprule_agent_rules_deleted_total 1\n",
                           "iprule_agent_rule_errors_total 1\n", "iprule_agent_drift_repairs_total 1\n",
                           "iprule_agent_desired_rules 3\n", "iprule_agent_present_rules 2\n",
                           "iprule_agent_foreign_rules 1\n", "iprule_agent_reconcile_duration_seconds_count 1\n",
                           "le=\"10.24\"", "iprule_agent_ipruleconfigs_deleted_total 0\n",
                           "iprule_agent_last_sync_timestamp_seconds 0\n", "iprule_build_info{", "process_open_fds "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(LoopMetrics, rules_of_others_are_those_that_the_order_is_about) {
  metrics::Registry registry;
  LoopMetrics metrics(registry);
  Pass looked = pass();
  looked.wanted.foreign_rules.emplace();
  looked.foreign = {{.priority = 7}, {.priority = 8}};
  metrics.note(looked);
  EXPECT_THAT(registry.text(), HasSubstr("iprule_agent_foreign_rules 2\n"));
}

TEST(LoopMetrics, a_failed_look_leaves_gauges_as_they_were) {
  metrics::Registry registry;
  LoopMetrics metrics(registry);
  metrics.note(pass());
  metrics.note(base::fail(base::Fault::timeout, "no answer"));
  metrics.note(std::optional<Pass>());
  EXPECT_THAT(registry.text(), HasSubstr("iprule_agent_desired_rules 3\n"));
  EXPECT_THAT(registry.text(), HasSubstr("iprule_agent_rule_errors_total 2\n"));
}

}  // namespace
}  // namespace agent
