#include "intent/cluster/active_agent.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace intent {
namespace {

api::Agent agent(std::string ns, std::string name) {
  api::Agent out;
  out.meta.ns = std::move(ns);
  out.meta.name = std::move(name);
  return out;
}

std::string chosen(const std::vector<api::Agent>& agents) {
  std::vector<const api::Agent*> all;
  for (const api::Agent& one : agents) all.push_back(&one);
  const api::Agent* active = active_agent(all, "home");
  return active != nullptr ? meta::full_name(active->meta) : "none";
}

TEST(ActiveAgent, the_name_counts_before_the_namespace_and_home_before_others) {
  EXPECT_EQ(chosen({}), "none");
  EXPECT_EQ(chosen({agent("b", "default"), agent("a", "default")}), "a/default");
  EXPECT_EQ(chosen({agent("a", "default"), agent("home", "default")}), "home/default");
  EXPECT_EQ(chosen({agent("home", "default"), agent("z", "agent")}), "z/agent");
  EXPECT_EQ(chosen({agent("a", "agent"), agent("home", "agent")}), "home/agent");
}

TEST(ActiveAgent, one_that_is_being_deleted_or_has_another_name_does_not_count) {
  api::Agent leaving = agent("home", "agent");
  leaving.meta.deleted = meta::Time(std::chrono::seconds(1));
  EXPECT_EQ(chosen({leaving}), "none");
  EXPECT_EQ(chosen({leaving, agent("a", "default")}), "a/default");
  EXPECT_EQ(chosen({agent("home", "other")}), "none");
}

}  // namespace
}  // namespace intent
