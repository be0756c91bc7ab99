#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/config_metrics.h"
#include "controller/job_metrics.h"
#include "controller/rollout_metrics.h"
#include "controller/watch_metrics.h"

namespace controller {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(ConfigMetrics, D47_both_generations_names_have_the_same_values_and_gauges_are_gauges) {
  metrics::Registry registry;
  const ConfigMetrics metrics(registry);
  metrics.passed({.created = 2, .updated = 1, .marked_absent = 1, .desired = 7, .absent = 3});
  metrics.passed({.created = 1, .desired = 8, .absent = 0, .conflicts = 4, .invalid_rules = 5, .pending_nodes = 6});
  const std::string text = registry.text();
  for (const std::string_view line :
       {"iprule_config_created_total 3\n", "iprule_operator_config_creates_total 3\n",
        "iprule_config_updated_total 1\n", "iprule_operator_config_updates_total 1\n",
        "iprule_config_marked_absent_total 1\n", "iprule_operator_config_marked_absent_total 1\n",
        "iprule_desired_configs 8\n",
        "# TYPE iprule_operator_desired_configs_total gauge\niprule_operator_desired_configs_total 8\n",
        "iprule_absent_configs 0\n",
        "# TYPE iprule_operator_absent_configs_total gauge\niprule_operator_absent_configs_total 0\n",
        "iprule_operator_conflicts 4\n", "iprule_operator_invalid_rules 5\n",
        "iprule_operator_cleanup_pending_nodes 6\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line)));
  }
}

TEST(JobMetrics, passes_are_counted_as_controller_runtime_and_as_the_old_project_do) {
  metrics::Registry registry;
  const JobMetrics metrics(registry, "ipRule", "iprule");
  metrics.passed({.outcome = kube::Outcome::success, .waited = 2ms, .took = 10ms});
  metrics.passed({.outcome = kube::Outcome::error, .waited = 2s, .took = 3s});
  metrics.set_queue({.adds = 5, .retries = 2, .ready = 1, .unfinished = 5s, .longest = 4s}, 1);
  const std::string text = registry.text();
  for (const std::string_view line :
       {"controller_runtime_reconcile_total{controller=\"ipRule\",result=\"success\"} 1\n",
        "controller_runtime_reconcile_total{controller=\"ipRule\",result=\"error\"} 1\n",
        "controller_runtime_reconcile_total{controller=\"ipRule\",result=\"requeue_after\"} 0\n",
        "controller_runtime_reconcile_errors_total{controller=\"ipRule\"} 1\n",
        "controller_runtime_reconcile_time_seconds_count{controller=\"ipRule\"} 2\n",
        "controller_runtime_active_workers{controller=\"ipRule\"} 1\n",
        "controller_runtime_max_concurrent_reconciles{controller=\"ipRule\"} 1\n",
        "workqueue_depth{name=\"ipRule\"} 1\n", "workqueue_adds_total{name=\"ipRule\"} 5\n",
        "workqueue_retries_total{name=\"ipRule\"} 2\n", "workqueue_work_duration_seconds_count{name=\"ipRule\"} 2\n",
        "workqueue_work_duration_seconds_bucket{name=\"ipRule\",le=\"0.1\"} 1\n",
        "workqueue_queue_duration_seconds_bucket{name=\"ipRule\",le=\"0.01\"} 1\n",
        "workqueue_queue_duration_seconds_sum{name=\"ipRule\"} 2.002\n",
        "workqueue_unfinished_work_seconds{name=\"ipRule\"} 5\n",
        "workqueue_longest_running_processor_seconds{name=\"ipRule\"} 4\n",
        "iprule_operator_reconcile_total{controller=\"iprule\"} 2\n",
        "iprule_operator_reconcile_errors_total{controller=\"iprule\"} 1\n",
        "iprule_operator_reconcile_duration_seconds_bucket{controller=\"iprule\",le=\"2.5\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line)));
  }
}

TEST(RolloutMetrics, D47_without_an_agent_nothing_is_wanted) {
  metrics::Registry registry;
  const RolloutMetrics metrics(registry);
  api::DaemonSet set;
  set.status = {.desired = 3, .current = 2, .ready = 1};
  metrics.set(&set);
  metrics.created.add();
  EXPECT_THAT(registry.text(), HasSubstr("iprule_operator_agent_daemonset_desired 3\n"));
  EXPECT_THAT(registry.text(), HasSubstr("iprule_operator_agent_daemonset_ready 1\n"));
  EXPECT_THAT(registry.text(),
              HasSubstr("iprule_operator_agent_daemonset_operations_total{operation=\"created\"} 1\n"));
  metrics.set(nullptr);
  EXPECT_THAT(registry.text(), HasSubstr("iprule_operator_agent_daemonset_desired 0\n"));
  EXPECT_THAT(registry.text(), HasSubstr("iprule_operator_agent_daemonset_current 0\n"));
}

TEST(WatchMetrics, a_watch_that_brings_nothing_new_is_not_in_sync_and_grows_old) {
  metrics::Registry registry;
  const std::vector<std::string> resources = {"services", "nodes"};
  const WatchMetrics metrics(registry, resources);
  const base::TimePoint now(1h);
  const std::vector<WatchState> watches = {
      {.resource = "services", .is_synced = false, .trouble = "services: 403", .heard_at = now - 90s},
      {.resource = "nodes", .is_synced = true, .heard_at = now - 2s},
      {.resource = "another", .is_synced = true}};
  metrics.set(watches, now);
  const std::string text = registry.text();
  for (const std::string_view line :
       {"iprule_watch_synced{resource=\"services\"} 0\n", "iprule_watch_synced{resource=\"nodes\"} 1\n",
        "iprule_watch_event_age_seconds{resource=\"services\"} 90\n",
        "iprule_watch_event_age_seconds{resource=\"nodes\"} 2\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line)));
  }
}

}  // namespace
}  // namespace controller
