// The roll-out of agents on a real API server: in what order it tells Agents and takes their DaemonSets away. What
// becomes of those that run is in tests/cluster.
#include "controller/agent_rollout.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.h"
#include "api/kinds.h"
#include "controller/cluster_script.h"
#include "kube/events.h"
#include "metrics/registry.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"

namespace controller_test {
namespace {

using api_test::kBound;
using api_test::must;
using api_test::soon;
using testbed::FaultProxy;

class AgentRolloutTest : public testing::Test {
 protected:
  static constexpr const char* kHome = "rollout-home";  // Of the operator.
  static constexpr const char* kElsewhere = "rollout-elsewhere";

  AgentRolloutTest() {
    for (const auto* ns : {kHome, kElsewhere}) {
      (void)script_.client().create(api_test::kNamespaces, "", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", ns),
                                    soon());  // It may be there already.
    }
  }
  // Nobody collects them here.
  void TearDown() override {
    must(testbed::shared_cluster().kubectl({"delete", "daemonsets", "--all", "--all-namespaces"}));
  }

  static kube::Config admin_config() {
    return must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }

  void create_agent(const std::string& ns) {
    must(script_.client().create(
        kAgents, ns,
        fmt::format(R"({{"apiVersion":"{}","kind":"Agent","metadata":{{"name":"agent","namespace":"{}"}}}})",
                    api::kApiVersion, ns),
        soon()));
  }
  bool has_set(const std::string& ns) {
    return script_.client().get(kSets, {.ns = ns, .name = "iprule-agent"}, soon()).has_value();
  }
  std::string why_not_ready(const std::string& ns) {
    json::Reader reader;
    const std::string body = must(script_.client().get(kAgents, {.ns = ns, .name = "agent"}, soon()));
    const api::Agent agent = must(api::decode_agent(must(reader.parse(body))));
    const auto* ready = meta::find(agent.status.conditions, "Ready");
    return ready != nullptr ? ready->reason : "";
  }
  // One pass after another, as long as it takes.
  testing::AssertionResult becomes(const std::string& what, const std::function<bool()>& fact) {
    return testbed::eventually(what, kBound, [&] {
      (void)rollout_.reconcile({});  // What the proxy refuses it is refused.
      return fact();
    });
  }

  const kube::Resource kAgents{std::string(api::kGroup), std::string(api::kVersion), "agents", true};
  const kube::Resource kSets{"apps", "v1", "daemonsets", true};
  ClusterScript script_;
  FaultProxy proxy_{admin_config().server, must(admin_config().tls())};
  std::unique_ptr<kube::Client> client_ = api_test::connect(proxy_.kubeconfig());
  metrics::Registry registry_;
  kube::Events events_{*client_, {.controller = "ip-rule-operator", .instance = "test"}};
  controller::AgentRollout rollout_{*client_, {.home = kHome, .image = "agent:1"}, events_, registry_};
};

// The pods that are ended with the set read there whether their node's rules stay.
TEST_F(AgentRolloutTest, D42_an_agent_is_told_that_another_counts_before_its_set_goes) {
  create_agent(kElsewhere);
  ASSERT_TRUE(becomes("its set is there", [&] { return has_set(kElsewhere); }));
  proxy_.inject({.verb = "patch", .resource = "agents/status"},
                testbed::fault::Answer{.status = 500, .body = R"({"kind":"Status","code":500,"message":"no"})"},
                {.count = FaultProxy::kAlways});
  create_agent(kHome);
  ASSERT_TRUE(becomes("that of the other is there", [&] { return has_set(kHome); }));
  EXPECT_TRUE(has_set(kElsewhere)) << "nobody could be told";
  proxy_.heal();
  EXPECT_TRUE(becomes("one set is left", [&] { return !has_set(kElsewhere); }));
  EXPECT_EQ(why_not_ready(kElsewhere), "InactiveInstance");
  EXPECT_TRUE(has_set(kHome));
}

// It is made after the last look and before our write, which is on its way already. With our selector, or the server
// would refuse to change it anyway.
TEST_F(AgentRolloutTest, a_daemon_set_that_somebody_makes_before_our_first_write_is_left_as_it_is) {
  proxy_.inject({.verb = "patch", .resource = "daemonsets"}, testbed::fault::Hold());
  create_agent(kHome);
  std::jthread passes([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)rollout_.reconcile(stop);
  });
  const auto writes = [&] { return proxy_.calls({.verb = "patch", .resource = "daemonsets"}); };
  ASSERT_TRUE(testbed::eventually("our write is on its way", kBound, [&] { return writes() == 1; }));
  must(script_.client().create(
      kSets, kHome,
      R"({"metadata":{"name":"iprule-agent"},"spec":{"selector":{"matchLabels":{"app":"iprule-agent"}},"template":{)"
      R"("metadata":{"labels":{"app":"iprule-agent"}},"spec":{"containers":[{"name":"agent","image":"theirs:1"}]}}}})",
      soon()));
  const auto theirs = must(script_.client().get(kSets, {kHome, "iprule-agent"}, soon()));
  proxy_.release();
  ASSERT_TRUE(testbed::eventually("whose it is was seen", kBound, [&] { return why_not_ready(kHome) == "NameTaken"; }));
  EXPECT_EQ(must(script_.client().get(kSets, {kHome, "iprule-agent"}, soon())), theirs);
  EXPECT_EQ(writes(), 1);
}

// Servers before 1.30 check the whole object with every write, also what was stored when less was checked.
TEST_F(AgentRolloutTest, D43_an_agent_whose_status_is_refused_is_rolled_out_and_its_event_says_why) {
  proxy_.inject(
      {.verb = "patch", .resource = "agents/status"},
      testbed::fault::Answer{
          .status = 422,
          .body =
              R"({"kind":"Status","code":422,"reason":"Invalid","message":"spec.metricsBindAddress: Invalid value"})"},
      {.count = FaultProxy::kAlways});
  create_agent(kHome);
  ASSERT_TRUE(becomes("its set is there", [&] { return has_set(kHome); }));
  ASSERT_TRUE(becomes("a pass that went well", [&] { return rollout_.reconcile({}).has_value(); }));
  EXPECT_TRUE(becomes("the Event is there", [&] {
    return must(
               testbed::shared_cluster().kubectl({"get", "events", "-n", kHome, "--field-selector=reason=StatusRefused",
                                                  "-o", "jsonpath={.items[*].message}"}))
        .contains(
            "takes no status of it: spec.metricsBindAddress: Invalid value; correct it: kubectl edit agent "
            "agent -n rollout-home");
  }));
  proxy_.heal();
  EXPECT_TRUE(becomes("its status says how it is", [&] { return !why_not_ready(kHome).empty(); }));
}

// While the first Event is on its way, those of all passes come together in one; it would have their number.
TEST_F(AgentRolloutTest, an_agent_whose_status_is_refused_is_told_once_that_another_counts) {
  proxy_.inject({.verb = "create", .resource = "events"}, testbed::fault::Hold());
  create_agent(kHome);
  ASSERT_TRUE(becomes("its set is there", [&] { return has_set(kHome); }));
  proxy_.inject({.verb = "patch", .resource = "agents/status"},
                testbed::fault::Answer{.status = 422,
                                       .body = R"({"kind":"Status","code":422,"reason":"Invalid","message":"no"})"},
                {.count = FaultProxy::kAlways});
  create_agent(kElsewhere);
  const auto refusals = [&] { return proxy_.calls({.verb = "patch", .resource = "agents/status"}); };
  const int before = refusals();
  ASSERT_TRUE(becomes("it is tried again and again", [&] { return refusals() > before + 8; }));
  proxy_.release();
  const auto told = [&](const std::string& path) {
    return must(testbed::shared_cluster().kubectl({"get", "events", "-n", kElsewhere,
                                                   "--field-selector=reason=InactiveInstance", "-o",
                                                   "jsonpath={.items[*]." + path + "}"}));
  };
  ASSERT_TRUE(becomes("it is told", [&] { return told("message").contains("rollout-home/agent"); }));
  EXPECT_EQ(told("series.count"), "");
}

}  // namespace
}  // namespace controller_test
