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

}  // namespace
}  // namespace agent
