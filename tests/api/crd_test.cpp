// Our kinds on the real API server: what both generations of the old project wrote is taken as it is, what is wrong is
// refused with the cure in the message, and people see what they need in `kubectl get`.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "http/listen_address.h"

namespace api_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class Crd : public testing::Test {
 protected:
  static auto apply_our_kinds() {
    return testbed::shared_cluster().kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"});
  }
  static void SetUpTestSuite() {
    must(apply_our_kinds());
    must(testbed::shared_cluster().kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  }

  // Asked and answered by the server, nothing stored; empty where it is accepted.
  std::string verdict(std::string_view kind, std::string_view metadata, std::string_view spec) {
    const std::string manifest =
        fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: {}\nmetadata: {}\n{}{}", kind, metadata,
                    spec.empty() ? "" : "spec: ", spec);
    const auto answer = cluster_.kubectl({"create", "--dry-run=server", "-f", "-"}, manifest);
    return answer ? "" : answer.error().message();
  }
  std::string iprule(std::string_view spec) { return verdict("IPRule", "{name: a}", spec); }
  std::string config(std::string_view spec) { return verdict("IPRuleConfig", "{name: a}", spec); }
  std::string agent(std::string_view spec, std::string_view name = "agent") {
    return verdict("Agent", fmt::format("{{name: {}, namespace: default}}", name), spec);
  }

  // An object as the controller leaves it: stored, then given its status.
  void store(const std::string& resource, const std::string& manifest, const std::string& status) {
    must(cluster_.kubectl({"create", "-f", "-"}, "apiVersion: api.operator.brtrm.dev/v1alpha1\n" + manifest));
    must(cluster_.kubectl(
        {"patch", resource, "--subresource=status", "--type=merge", "-p", fmt::format(R"({{"status":{}}})", status)}));
  }
  static std::string condition(std::string_view type, std::string_view status) {
    return fmt::format(
        R"({{"type":"{}","status":"{}","reason":"Test","message":"","lastTransitionTime":"2024-01-01T00:00:00Z"}})",
        type, status);
  }

  // At the end of its scope our kinds count again, for the tests that follow too, whatever went wrong in it.
  struct WithoutOurKinds {
    ~WithoutOurKinds() {
      const auto applied = apply_our_kinds();
      EXPECT_TRUE(applied) << applied.error().message();
    }
  };

  testbed::Cluster& cluster_ = testbed::shared_cluster();
};

TEST_F(Crd, manifests_of_both_generations_apply_unchanged) {
  EXPECT_EQ(iprule("{cidr: 198.51.100.0/25, table: 121, nodeSelectorLabel: iprule.operator.brtrm.dev/enabled}"), "");
  EXPECT_EQ(iprule("{cidr: 198.51.100.0/25, table: 121, priority: 10}"), "");
  EXPECT_EQ(iprule("{cidrs: [203.0.113.0/24, '2001:db8:77::/64'], table: 120, priority: 1500}"), "");
  EXPECT_EQ(config("{serviceIP: 10.96.44.9, table: 120, priority: 1500, state: present}"), "");
  EXPECT_EQ(agent("{nodeSelector: {kubernetes.io/os: linux}, tolerations: [{key: a, operator: Exists}]}"), "");
  EXPECT_EQ(agent("{}", "default"), "");
  EXPECT_EQ(agent(""), "");
}

TEST_F(Crd, D14_a_wrong_prefix_is_admitted_for_its_condition_to_speak) {
  EXPECT_EQ(iprule("{cidr: 192.168.1.10, table: 121}"), "");
  EXPECT_EQ(iprule("{cidrs: [10.0.0.0/33], table: 121}"), "");
  EXPECT_EQ(iprule("{cidrs: [10.0.0.0/8], table: 0}"), "");
}

TEST_F(Crd, D25_numbers_that_the_kernel_would_take_for_something_else_are_refused) {
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8], table: -5}"), HasSubstr("spec.table: Invalid value"));
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8], table: 4294967396}"), HasSubstr("spec.table: Invalid value"));
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8], table: 1, priority: -1}"), HasSubstr("spec.priority: Invalid value"));
  EXPECT_THAT(config("{serviceIP: 10.0.0.1, table: -5, state: present}"), HasSubstr("spec.table: Invalid value"));
}

TEST_F(Crd, what_says_nothing_or_two_things_is_refused_with_the_cure) {
  EXPECT_THAT(iprule("{table: 1}"), HasSubstr("give at least one prefix in cidrs"));
  EXPECT_THAT(iprule("{cidrs: [], table: 1}"), HasSubstr("give at least one prefix in cidrs"));
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8]}"), HasSubstr("give the routing table in table"));
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8], table: 1, vrf: red}"), HasSubstr("table and vrf exclude each other"));
  EXPECT_EQ(iprule("{cidrs: [10.0.0.0/8], vrf: red}"), "");
  EXPECT_THAT(iprule("{cidrs: [10.0.0.0/8], table: 1, source: {modes: [Pods]}}"), HasSubstr("supported values"));
  EXPECT_THAT(config("{serviceIP: 10.0.0.1, table: 1, state: Present}"), HasSubstr("supported values"));
}

TEST_F(Crd, agents_are_refused_by_name_and_for_settings_that_would_hurt) {
  EXPECT_THAT(agent("{}", "other"), HasSubstr("Agent resource name must be 'agent'"));
  EXPECT_THAT(agent("{reconcilePeriod: 0s}"), HasSubstr("give a time from 1s to 1h"));
  EXPECT_THAT(agent("{reconcilePeriod: '10'}"), HasSubstr("give a time from 1s to 1h"));
  EXPECT_THAT(agent("{foreignRules: {policy: Prune}}"), HasSubstr("Prune needs sources and tables"));
  EXPECT_EQ(agent("{reconcilePeriod: 1m30s, absentTimeout: 5m, resources: {limits: {cpu: 1, memory: 64Mi}}}"), "");
}

// What the agent could not read would never reach it: the node's own address would count instead, without a word.
TEST_F(Crd, an_agents_metrics_address_is_one_that_agents_read_or_it_is_refused) {
  const auto address = [&](const std::string& text) {
    return agent(fmt::format("{{metricsBindAddress: '{}'}}", text));
  };
  for (const char* fine : {":9090", "127.0.0.1:9090", "0.0.0.0:1", "localhost:65535", "[::1]:9090", "[::]:9090",
                           "[fd00:1:2:3:4:5:6:7]:80", "[fd00::ffff:10.0.0.1]:80"}) {
    EXPECT_EQ(address(fine), "") << fine;
    EXPECT_TRUE(http::ListenAddress::parse(fine)) << fine;
  }
  for (const char* wrong :
       {"node.lan:9090", "::1:9090", "[10.0.0.1]:9090", "[fe80::1%eth0]:80", "9090", ":http", ":123456"}) {
    EXPECT_THAT(address(wrong), HasSubstr("give an IP address (IPv6 in brackets), localhost or nothing, and a port"));
    EXPECT_FALSE(http::ListenAddress::parse(wrong)) << wrong;
  }
  for (const char* nowhere : {"", "0"}) EXPECT_EQ(address(nowhere), "");
  // Port 0 is any free one, which no probe could find.
  for (const char* wrong : {":0", ":65536"}) {
    EXPECT_THAT(address(wrong), HasSubstr("give a port from 1 to 65535")) << wrong;
  }
}

// As an installation of the old project has it: numbers of any size.
constexpr const char* kOldKind = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: iprules.api.operator.brtrm.dev}
spec:
  group: api.operator.brtrm.dev
  names: {kind: IPRule, listKind: IPRuleList, plural: iprules, singular: iprule}
  scope: Cluster
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [cidr, table]
            properties: {cidr: {type: string}, priority: {type: integer}, table: {type: integer}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

// The server checks what a change touches: who wants to mend an old object must not have to mend all of it at once.
TEST_F(Crd, D25_what_was_stored_under_the_old_kind_can_still_be_edited) {
  constexpr auto kWrong = "{cidr: 198.51.100.0/25, table: -5}";
  {
    const WithoutOurKinds until_it_is_stored;
    must(cluster_.kubectl({"apply", "-f", "-"}, kOldKind));
    ASSERT_TRUE(testbed::eventually("the old kind counts", kBound, [&] { return iprule(kWrong).empty(); }));
    must(cluster_.kubectl({"create", "-f", "-"},
                          fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\n"
                                      "metadata: {{name: old}}\nspec: {}\n",
                                      kWrong)));
  }
  ASSERT_TRUE(testbed::eventually("our kind counts", kBound,
                                  [&] { return iprule(kWrong).contains("spec.table: Invalid value"); }));

  const auto patch = [&](const std::string& with) {
    const auto done = cluster_.kubectl({"patch", "iprule", "old", "--type=merge", "-p", with});
    return done ? "" : done.error().message();
  };
  EXPECT_EQ(patch(R"({"metadata":{"labels":{"team":"net"}}})"), "");
  EXPECT_EQ(patch(R"({"spec":{"priority":1500}})"), "");
  EXPECT_THAT(patch(R"({"spec":{"table":-6}})"), HasSubstr("spec.table: Invalid value"));
  EXPECT_EQ(patch(R"({"spec":{"table":100}})"), "");
  must(cluster_.kubectl({"delete", "iprule", "old"}));
}

TEST_F(Crd, samples_apply) {
  must(cluster_.kubectl({"create", "namespace", "ip-rule-operator-system"}));
  const auto answer =
      cluster_.kubectl({"apply", "--dry-run=server", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/samples"});
  EXPECT_TRUE(answer) << answer.error().message();
}

TEST_F(Crd, kubectl_get_shows_what_became_of_an_iprule) {
  store(
      "iprule/shown",
      "kind: IPRule\nmetadata: {name: shown}\nspec: {cidrs: [203.0.113.0/24], table: 120, priority: 1500}\n",
      fmt::format(R"({{"cidrs":["203.0.113.0/24"],"matchedServices":3,"configs":2,"dataplane":"rules",)"
                  R"("conditions":[{},{},{}]}})",
                  condition("Accepted", "True"), condition("Programmed", "False"), condition("Effective", "Unknown")));
  const std::string table = must(cluster_.kubectl({"get", "ipr", "shown"}));
  EXPECT_THAT(table, ContainsRegex("NAME +TABLE +PRIORITY +CIDRS +SERVICES +CONFIGS +ACCEPTED +PROGRAMMED +EFFECTIVE "
                                   "+DATAPLANE +AGE\n"));
  EXPECT_THAT(table, ContainsRegex("shown +120 +1500 +.*203.0.113.0/24.* +3 +2 +True +False +Unknown +rules +[0-9]+s"));
  must(cluster_.kubectl({"delete", "iprule", "shown"}));
}

TEST_F(Crd, kubectl_get_shows_what_became_of_a_published_object) {
  store("ipruleconfig/iprc-10-96-44-9",
        "kind: IPRuleConfig\n"
        "metadata: {name: iprc-10-96-44-9, annotations: {iprule.operator.brtrm.dev/service: shop/frontend}}\n"
        "spec: {serviceIP: 10.96.44.9, table: 120, priority: 1500, state: present}\n",
        fmt::format(R"({{"nodes":[{{"node":"worker-1"}}],"conditions":[{}]}})", condition("Applied", "False")));
  const std::string table = must(cluster_.kubectl({"get", "iprc"}));
  EXPECT_THAT(table, ContainsRegex("NAME +SERVICEIP +TABLE +PRIORITY +STATE +SERVICE +AGE\n"));
  EXPECT_THAT(table, ContainsRegex("iprc-10-96-44-9 +10.96.44.9 +120 +1500 +present +shop/frontend +[0-9]+s"));
  const std::string wide = must(cluster_.kubectl({"get", "iprc", "-o", "wide"}));
  EXPECT_THAT(wide, ContainsRegex("AGE +APPLIED +FAILING\n"));
  EXPECT_THAT(wide, ContainsRegex("[0-9]+s +False +worker-1\n"));
  must(cluster_.kubectl({"delete", "ipruleconfig", "iprc-10-96-44-9"}));
}

TEST_F(Crd, kubectl_get_shows_how_the_agents_are) {
  store("agent/agent", "kind: Agent\nmetadata: {name: agent}\nspec: {}\n",
        fmt::format(R"({{"desiredNumberScheduled":3,"currentNumberScheduled":2,"numberReady":1,"conditions":[{}]}})",
                    condition("Ready", "False")));
  for (const char* name : {"agents", "ipra"}) {
    const std::string table = must(cluster_.kubectl({"get", name}));
    EXPECT_THAT(table, ContainsRegex("NAME +DESIRED +CURRENT +READY +STATUS +AGE\n"));
    EXPECT_THAT(table, ContainsRegex("agent +3 +2 +1 +False +[0-9]+s"));
  }
  must(cluster_.kubectl({"delete", "agent", "agent"}));
}

TEST_F(Crd, kubectl_get_shows_what_a_node_reported) {
  store("nodestate/worker-1", "kind: NodeState\nmetadata: {name: worker-1}\n",
        R"({"sync":"InSync","settled":[{"kind":"IPRuleConfig","epoch":412}],"dataplane":"rules","version":"0.1",)"
        R"("counts":{"rules":1,"routes":2,"sources":3,"failures":4,"clashes":5}})");
  const std::string table = must(cluster_.kubectl({"get", "iprns"}));
  EXPECT_THAT(table, ContainsRegex("NAME +SYNC +EPOCH +RULES +ROUTES +SOURCES +DATAPLANE +FAILURES +CLASHES +VERSION "
                                   "+AGE\n"));
  EXPECT_THAT(table, ContainsRegex("worker-1 +InSync +412 +1 +2 +3 +rules +4 +5 +0.1 +[0-9]+s"));
  EXPECT_THAT(must(cluster_.kubectl({"get", "ip-rule-operator"})),
              HasSubstr("nodestate.api.operator.brtrm.dev/worker-1"));
}

}  // namespace
}  // namespace api_test
