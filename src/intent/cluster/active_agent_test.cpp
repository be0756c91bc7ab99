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

std::string chosen(const std::vector<api::Agent>& agents, decltype(active_agent)* choose = active_agent) {
  std::vector<const api::Agent*> all;
  for (const api::Agent& one : agents) all.push_back(&one);
  const api::Agent* active = choose(all, "home");
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

TEST(ActiveAgent, D42_what_the_controller_has_told_an_agent_counts_before_the_guess_where_it_lives) {
  const auto told = [](api::Agent one, std::string reason) {
    one.status.conditions = {{.type = "Ready", .status = meta::Truth::no, .reason = std::move(reason)}};
    return one;
  };
  const auto idle = told(agent("home", "agent"), "InactiveInstance");
  EXPECT_EQ(chosen({idle, agent("operator", "agent")}), "home/agent") << "the controller itself asks nobody";
  EXPECT_EQ(chosen({idle, agent("operator", "agent")}, active_agent_by_status), "operator/agent");
  EXPECT_EQ(chosen({told(agent("home", "agent"), "Progressing"), agent("operator", "agent")}, active_agent_by_status),
            "home/agent");
  EXPECT_EQ(chosen({idle}, active_agent_by_status), "home/agent") << "what was told is out of date";
  EXPECT_EQ(chosen({}, active_agent_by_status), "none");
}

}  // namespace
}  // namespace intent
