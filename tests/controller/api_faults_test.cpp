// The controller while something goes wrong between it and the API server, or with what it has published there.
#include <chrono>
#include <map>

#include <gmock/gmock.h>

#include "api/kinds.h"
#include "controller/behind_proxy.h"

namespace controller_test {
namespace {

namespace fault = testbed::fault;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr auto kRecovery = 120s;  // Waits between tries grow to a minute.
const CallMatch kCreates{.verb = "create", .resource = "ipruleconfigs"};

class ControllerFaults : public ControllerBehindProxy {
 protected:
  // One node, one rule, so many Services; all of it acknowledged.
  void settle(int services) {
    proxy_.keep_bodies();
    script_.add_agent();
    script_.add_node("n1");
    put_rule(120);
    put_services(1, services);
    start();
    ASSERT_TRUE(becomes("published", [&] {
      return script_.states().size() == 1 && are_published(static_cast<std::size_t>(services), 120);
    }));
    script_.report_all();
    ASSERT_TRUE(becomes("programmed", [&] { return is_programmed(); }));
  }
  std::map<std::string, std::string> versions() {
    std::map<std::string, std::string> out;
    for (const api::IPRuleConfig& config : script_.configs()) out[config.meta.name] = config.meta.resource_version;
    return out;
  }
  void expect_conditions(const CallMatch& match, const testing::Matcher<std::string>& condition) {
    const auto bodies = proxy_.bodies(match);
    EXPECT_FALSE(bodies.empty()) << match.verb << " " << match.resource;
    for (const std::string& body : bodies) EXPECT_THAT(body, condition) << match.verb << " " << match.resource;
  }
  // Of the object itself: its owners have a uid, too.
  void expect_object(const CallMatch& match, std::size_t from = 0) {
    const auto bodies = proxy_.bodies(match);
    EXPECT_GT(bodies.size(), from) << match.verb << " " << match.resource;
    for (std::size_t i = from; i < bodies.size(); ++i) {
      EXPECT_NE(api_test::at(bodies[i], "metadata", "uid"), "") << match.resource << " " << bodies[i];
      EXPECT_NE(api_test::at(bodies[i], "metadata", "resourceVersion"), "") << match.resource << " " << bodies[i];
    }
  }
};

TEST_F(ControllerFaults, B5_while_every_write_conflicts_nothing_changes_and_then_the_end_is_the_same) {
  api_test::must(testbed::shared_cluster().kubectl({"delete", "daemonsets", "--all", "--all-namespaces"}));
  settle(5);
  script_.add_node("n0");
  ASSERT_TRUE(becomes("a second report", [&] { return script_.states().size() == 2; }));
  script_.report_all();
  const CallMatch sets{.verb = "patch", .resource = "daemonsets"};
  const CallMatch agents_status{.verb = "patch", .resource = "agents/status"};
  ASSERT_TRUE(becomes("the agents' set", [&] { return proxy_.calls(sets) == 1 && proxy_.calls(agents_status) > 0; }));
  for (const char* verb : {"create", "update", "patch", "delete"}) {
    const std::string conflict =
        R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409,"message":"the object has been modified"})";
    proxy_.inject({.verb = verb}, fault::Answer{.status = 409, .body = conflict}, {.count = FaultProxy::kAlways});
  }
  const int creates = proxy_.calls(kCreates);
  put_services(6, 10);
  put_rule(121);
  script_.patch_agent(R"({"spec":{"logLevel":"debug","clusterCIDRs":["10.200.0.0/16"]}})");  // For the nodes, too.
  script_.delete_node("n1");
  script_.add_node("n2");
  // What was under way before has come to its end by then.
  ASSERT_TRUE(becomes("one was tried", [&] { return proxy_.calls(kCreates) > creates; }));
  const auto before = versions();
  ASSERT_TRUE(becomes("all ten were tried four times", [&] { return proxy_.calls(kCreates) >= creates + 40; }));
  EXPECT_EQ(versions(), before);
  EXPECT_EQ(script_.rule("blue").status.observed_generation, 1);
  proxy_.heal();

  const ObedientAgents agents(script_);
  EXPECT_TRUE(eventually("the clean end", kRecovery,
                         [&] { return script_.configs().size() == 10 && are_published(10, 121) && is_programmed(); }));
  // Whatever was tried would have failed on an object that somebody else had changed.
  const auto with_version = HasSubstr(R"("resourceVersion":")");
  expect_conditions({.verb = "update", .resource = "ipruleconfigs"}, with_version);
  expect_conditions({.verb = "update", .resource = "ipruleconfigs/status"}, with_version);
  expect_conditions({.verb = "update", .resource = "iprules/status"}, with_version);
  for (const char* kind : {"ipruleconfigs", "nodestates"}) {
    expect_conditions({.verb = "delete", .resource = kind},
                      AllOf(HasSubstr(R"("preconditions")"), HasSubstr(R"("uid":")"), with_version));
  }
  expect_object({.verb = "update", .resource = "nodestates"});
  expect_object(agents_status);
  expect_object(sets, 1);  // The first is not for an object, and overwrites none.
}

TEST_F(ControllerFaults, A2_a_server_that_dies_in_the_midst_of_a_pass_gets_the_rest_of_it_when_it_is_back) {
  testbed::Cluster& cluster = testbed::shared_cluster();
  put_rule(120);
  put_services(1, 10);
  proxy_.inject(kCreates, fault::Hold{}, {.skip = 4, .count = 1});
  start();
  ASSERT_TRUE(becomes("half of them are there", [&] { return proxy_.calls(kCreates) >= 5; }));
  std::map<std::string, std::string> first;
  for (const api::IPRuleConfig& config : script_.configs()) first[config.meta.name] = config.meta.uid;
  cluster.api_server().kill();
  proxy_.release();
  api_test::must(cluster.api_server().restart());
  EXPECT_TRUE(eventually("all of them", kRecovery, [&] { return are_published(10, 120); }));
  for (const auto& [name, uid] : first) {
    const auto config = script_.config(name);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->meta.uid, uid) << "none was made twice";
  }
}

struct LastWrite {
  CallMatch match;
  int skip;  // So many of them are done before.
};

class ServerDeath : public ControllerFaults, public testing::WithParamInterface<LastWrite> {};

// Another table: objects are made, withdrawn, acknowledged and deleted, and statuses follow.
TEST_P(ServerDeath, A2_in_whatever_phase_a_server_dies_the_end_is_the_same) {
  constexpr int kCount = 10;
  settle(kCount);
  const ObedientAgents agents(script_);
  const int before = proxy_.calls(GetParam().match);
  proxy_.inject(GetParam().match, fault::Hold{}, {.skip = GetParam().skip, .count = 1});
  put_rule(121);
  ASSERT_TRUE(becomes("one is held", [&] { return proxy_.calls(GetParam().match) > before + GetParam().skip; }));
  std::map<std::string, std::string> made;
  for (const api::IPRuleConfig& config : script_.configs()) {
    if (config.spec.table == 121) made[config.meta.name] = config.meta.uid;
  }
  testbed::Cluster& cluster = testbed::shared_cluster();
  cluster.api_server().kill();
  proxy_.release();
  api_test::must(cluster.api_server().restart());
  EXPECT_TRUE(eventually("the clean end", kRecovery, [&] {
    return script_.configs().size() == kCount && are_published(kCount, 121) && is_programmed();
  }));
  for (const auto& [name, uid] : made) {
    const auto config = script_.config(name);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->meta.uid, uid) << "none was made twice";
  }
}

INSTANTIATE_TEST_SUITE_P(At, ServerDeath,
                         testing::Values(LastWrite{{.verb = "create", .resource = "ipruleconfigs"}, 4},
                                         LastWrite{{.verb = "update", .resource = "ipruleconfigs"}, 4},
                                         LastWrite{{.verb = "delete", .resource = "ipruleconfigs"}, 4},
                                         LastWrite{{.verb = "update", .resource = "ipruleconfigs/status"}, 4},
                                         LastWrite{{.verb = "update", .resource = "iprules/status"}, 0}),
                         [](const auto& at) -> std::string {
                           const std::string& resource = at.param.match.resource;
                           return at.param.match.verb + "_of_" + (resource.ends_with("/status") ? "status_of_" : "") +
                                  resource.substr(0, resource.find('/'));
                         });

// Later than a controller waits for the echo of its own writes: it decides on a view that lacks them.
TEST_F(ControllerFaults, D9_with_a_late_watch_a_desired_object_stays_present_and_is_made_once) {
  proxy_.inject({.verb = "watch", .resource = "ipruleconfigs"}, fault::Lag{6s}, {.count = FaultProxy::kAlways});
  settle(1);
  const ObedientAgents agents(script_);
  put_rule(121);
  ASSERT_TRUE(becomes("the new one", [&] { return are_published(1, 121); }));
  const auto wanted = [&]() -> std::optional<api::IPRuleConfig> {
    for (api::IPRuleConfig& config : script_.configs()) {
      if (config.spec.table == 121) return std::move(config);
    }
    return std::nullopt;
  };
  const std::string uid = wanted()->meta.uid;
  EXPECT_TRUE(eventually("the old one is gone", kRecovery, [&] {
    const auto now = wanted();
    EXPECT_TRUE(now && now->spec.state == api::ConfigState::present && now->meta.uid == uid);
    return script_.configs().size() == 1;
  }));
  EXPECT_TRUE(eventually("programmed", kRecovery, [&] { return is_programmed(); }));
  EXPECT_EQ(wanted()->meta.uid, uid);
}

TEST_F(ControllerFaults, D6_another_table_written_by_hand_is_withdrawn_and_the_right_one_is_there_at_once) {
  settle(1);
  const ObedientAgents agents(script_);
  script_.patch_config(script_.configs().front().meta.name, R"({"spec":{"table":7}})");
  EXPECT_TRUE(
      becomes("only the right one is left", [&] { return script_.configs().size() == 1 && are_published(1, 120); }));
  EXPECT_TRUE(becomes("programmed", [&] { return is_programmed(); }));
}

TEST_F(ControllerFaults, D11_what_stands_stays_until_what_replaces_it_could_be_written) {
  settle(1);
  const ObedientAgents agents(script_);
  proxy_.inject(
      kCreates,
      fault::Answer{.status = 403,
                    .body = R"({"kind":"Status","code":403,"reason":"Forbidden","message":"exceeded quota"})"},
      {.count = FaultProxy::kAlways});
  const int creates = proxy_.calls(kCreates);
  put_rule(121);
  ASSERT_TRUE(becomes("tried four times", [&] { return proxy_.calls(kCreates) >= creates + 4; }));
  EXPECT_TRUE(are_published(1, 120));
  EXPECT_TRUE(becomes("said", [&] { return script_.condition("blue", "Programmed") == "False NotPublished"; }));
  proxy_.heal();
  EXPECT_TRUE(
      eventually("the new one", kRecovery, [&] { return script_.configs().size() == 1 && are_published(1, 121); }));
  EXPECT_TRUE(becomes("programmed", [&] { return is_programmed(); }));
}

TEST_F(ControllerFaults, D6_an_object_that_lost_its_label_gets_it_back_and_is_not_made_twice) {
  settle(1);
  const api::IPRuleConfig before = script_.configs().front();
  script_.patch_config(before.meta.name, R"({"metadata":{"labels":{"managed-by":null}}})");
  EXPECT_TRUE(becomes("labelled", [&] { return script_.config(before.meta.name)->is_managed(); }));
  EXPECT_TRUE(becomes("an event", [&] { return script_.events().contains("DriftRepaired"); }));
  ASSERT_EQ(script_.configs().size(), 1U);
  EXPECT_EQ(script_.configs().front().meta.uid, before.meta.uid);
  EXPECT_EQ(script_.configs().front().spec, before.spec);
}

}  // namespace
}  // namespace controller_test
