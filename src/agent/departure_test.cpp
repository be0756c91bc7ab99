#include "agent/departure.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

api::Agent selecting(const std::string& zone) {
  api::Agent out;
  out.meta.name = "agent";
  out.meta.ns = "home";
  if (!zone.empty()) out.spec.node_selector.set("zone", zone);
  return out;
}

meta::Labels zone(const std::string& name) {
  meta::Labels out;
  out.set("zone", name);
  return out;
}

TEST(Departure, S24_a_stop_alone_removes_nothing) {
  EXPECT_FALSE(reason_to_purge({})) << "nothing could be read";
  EXPECT_FALSE(reason_to_purge({.agents = {{selecting("")}}, .labels = zone("a")}));
  EXPECT_FALSE(reason_to_purge({.agents = {{selecting("a")}}, .labels = zone("a")}));
}

TEST(Departure, D22_without_an_agent_the_rules_go) {
  EXPECT_TRUE(reason_to_purge({.agents = {{}}}));
  EXPECT_TRUE(reason_to_purge({.kind_is_gone = true}));
  EXPECT_TRUE(reason_to_purge({.saw_deletion = true}));
  api::Agent leaving = selecting("");
  leaving.meta.deleted = meta::Time(std::chrono::seconds(1));
  EXPECT_TRUE(reason_to_purge({.agents = {{leaving}}}));
}

TEST(Departure, an_agent_that_was_made_anew_counts_more_than_the_deletion_of_the_old_one) {
  EXPECT_FALSE(reason_to_purge({.agents = {{selecting("")}}, .saw_deletion = true}));
}

TEST(Departure, D21_a_node_that_is_no_longer_selected_lets_its_rules_go) {
  EXPECT_TRUE(reason_to_purge({.agents = {{selecting("b")}}, .labels = zone("a")}));
  EXPECT_FALSE(reason_to_purge({.agents = {{selecting("b")}}})) << "without the Node's labels nobody knows";
}

api::Agent elsewhere(api::Agent agent) {
  agent.meta.ns = "elsewhere";
  return agent;
}
// By the controller, of which alone it is known where it lives.
api::Agent told_not_to_count(api::Agent agent) {
  agent.status.conditions = {{.type = "Ready", .status = meta::Truth::no, .reason = "InactiveInstance"}};
  return agent;
}

TEST(Departure, D42_the_agent_that_counts_decides_and_not_the_one_in_the_namespace_of_the_pod) {
  const auto here = told_not_to_count(selecting(""));
  EXPECT_TRUE(reason_to_purge({.agents = {{here, elsewhere(selecting("b"))}}, .labels = zone("a"), .home = "home"}));
  EXPECT_FALSE(reason_to_purge({.agents = {{here, elsewhere(selecting("a"))}}, .labels = zone("a"), .home = "home"}));
}

TEST(Departure, D42_an_agent_that_counts_again_need_not_have_been_told_so) {
  api::Agent leaving = elsewhere(selecting("a"));
  leaving.meta.deleted = meta::Time(std::chrono::seconds(1));
  const auto here = told_not_to_count(selecting("a"));
  EXPECT_FALSE(reason_to_purge({.agents = {{here, leaving}}, .labels = zone("a"), .home = "elsewhere"}));
  EXPECT_FALSE(reason_to_purge({.agents = {{here}}, .labels = zone("a"), .home = "elsewhere"}));
  EXPECT_TRUE(reason_to_purge({.agents = {{here}}, .labels = zone("b"), .home = "elsewhere"}));
}

}  // namespace
}  // namespace agent
