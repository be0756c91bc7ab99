#include "api/agent.h"

#include <gtest/gtest.h>

#include "api/duration.h"
#include "api/node_state.h"

namespace api {
namespace {

using namespace std::chrono_literals;

TEST(Duration, is_read_as_go_writes_it) {
  EXPECT_EQ(*parse_duration("10s"), 10s);
  EXPECT_EQ(*parse_duration("1m30s"), 90s);
  EXPECT_EQ(*parse_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  for (const auto* text : {"", "10", "s", "-1s", "1 s", "1.2.3s", "1x", "9999999h", "."}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Agent, settings_have_defaults_and_bounds) {
  EXPECT_EQ(reconcile_period({}), 10s);
  EXPECT_EQ(reconcile_period({.reconcile_period = "30s"}), 30s);
  EXPECT_EQ(reconcile_period({.reconcile_period = "0s"}), 1s);
  EXPECT_EQ(reconcile_period({.reconcile_period = "ten"}), 10s);
  EXPECT_EQ(absent_timeout({}), 10min);
  EXPECT_EQ(default_priority({}), 32765U);
  EXPECT_EQ(default_priority({.default_priority = 7}), 7U);
}

TEST(Agent, a_manifest_of_the_old_project_is_read) {
  json::Reader reader;
  const auto agent = decode_agent(*reader.parse(
      R"({"metadata":{"name":"agent","namespace":"iprule-system"},
          "spec":{"nodeSelector":{"kubernetes.io/os":"linux"},
                  "tolerations":[{"key":"node-role.kubernetes.io/control-plane","operator":"Exists","effect":"NoSchedule"}],
                  "resources":{"limits":{"cpu":1,"memory":"64Mi"}}}})"));
  ASSERT_TRUE(agent) << agent.error().message();
  EXPECT_EQ(agent->spec.tolerations.at(0).op, "Exists");
  EXPECT_EQ(agent->spec.resources.limits.amounts.get("cpu"), "1");
  EXPECT_EQ(agent->spec.dataplane, Dataplane::automatic);
  EXPECT_TRUE(decode_agent(*reader.parse(R"({"metadata":{"name":"agent"}})")));
  EXPECT_EQ(decode_agent(*reader.parse(encode(*agent))).value(), *agent);
}

TEST(NodeState, what_is_written_can_be_read_again) {
  NodeState state;
  state.meta.name = "n1";
  state.spec = {.token = "t", .cluster_prefixes = {"10.0.0.0/8"}, .nodes = 3};
  state.status = {
      .token = "t",
      .boot_id = "b",
      .version = "1",
      .sync = Sync::failing,
      .changed = meta::Time(std::chrono::seconds(9)),
      .holds_nothing = true,
      .dataplane = Backend::marks,
      .settled = {{.kind = "IPRuleConfig", .epoch = 41, .failed_count = 1, .failed = {{.uid = "u", .reason = "R"}}}},
      .counts = NodeState::Counts{.rules = 3},
      .empty_tables = {{.table = 7, .family = IPFamily::v6}},
      .facts = {.kernel = "6.1",
                .service_proxy = ServiceProxy::ipvs,
                .conntrack = false,
                .local_rule_priority = 0,
                .reverse_path_filter = {{.device = "eth0", .value = 2, .tables = {7}}},
                .vrfs = {{.device = "blue", .table = 9}}}};
  json::Reader reader;
  EXPECT_EQ(decode_node_state(*reader.parse(encode(state))).value(), state);
}

}  // namespace
}  // namespace api
