// What a cluster does to its agents all day, on real nodes: which of it may change a kernel, and which may not. Every
// change of a rule is heard, so a gap that is over before anybody looks is found too.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/traffic.h"
#include "real_node.h"
#include "testbed/eventually.h"

namespace node_test {
namespace {

using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

class RealNodeConduct : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(install());
    ASSERT_NO_FATAL_FAILURE(publish_services());
    for (const auto& node : nodes()) {
      auto watch = RuleWatch::start(*node);
      ASSERT_TRUE(watch) << watch.error().message();
      watches_.push_back(*watch);
      marks_.push_back(marks(*node));
    }
  }

  void expect_untouched() {
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      EXPECT_EQ(watches_[i].changes(), "") << nodes()[i]->name();
      EXPECT_EQ(marks(*nodes()[i]), marks_[i]) << nodes()[i]->name();
    }
  }
  void patch_agent(const std::string& spec) {
    kubectl({"patch", "agent", "agent", "--namespace=" + kNamespace, "--type=merge", "-p",
             fmt::format(R"({{"spec":{}}})", spec)});
  }

  // A Service with so many pods, which is no business of the service proxy, and a rule for their addresses.
  void publish_pods(std::size_t count) {
    std::string manifests = R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: many}
spec: {cidrs: [198.18.7.1/32], table: 100, priority: 1000, source: {modes: [Endpoints]}}
---
apiVersion: v1
kind: Service
metadata: {name: many, labels: {service.kubernetes.io/service-proxy-name: nobody}}
spec: {type: LoadBalancer, ports: [{port: 80}]}
)";
    constexpr std::size_t kSlice = 1000;  // The most that one takes.
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kSlice == 0) {
        manifests += fmt::format(
            "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {{name: many-{}, labels: "
            "{{kubernetes.io/service-name: many}}}}\naddressType: IPv4\nports: [{{port: 80}}]\nendpoints:\n",
            i / kSlice);
      }
      manifests += fmt::format("- addresses: [10.77.{}.{}]\n", i / 250, i % 250 + 1);
    }
    kubectl({"apply", "--server-side", "-f", "-"}, manifests);
    kubectl({"patch", "service", "many", "--subresource=status", "--type=merge", "-p",
             R"({"status":{"loadBalancer":{"ingress":[{"ip":"198.18.7.1"}]}}})"});
  }
  void withdraw_pods() {
    kubectl({"delete", "iprule", "many"});
    kubectl({"delete", "service", "many"});
    kubectl({"delete", "endpointslices", "--selector=kubernetes.io/service-name=many"});
  }

  std::vector<RuleWatch> watches_;
  std::vector<std::string> marks_;
};

TEST_F(RealNodeConduct, S24_a_deleted_agent_pod_leaves_everything_and_its_successor_finds_nothing_to_do) {
  testbed::Node& node = *nodes().front();
  const std::string pod = agent_pod(node);
  kubectl({"delete", "pod", pod, "--namespace=" + kNamespace, "--wait"});
  ASSERT_TRUE(eventually("another one is there", kBound, [&] {
    const std::string now = agent_pod(node);
    return !now.empty() && now != pod;
  }));
  ASSERT_TRUE(agents_become_ready());
  EXPECT_TRUE(rules_become_present(node));
  expect_untouched();
}

TEST_F(RealNodeConduct, S24_while_the_agents_are_rolled_no_rule_changes_and_no_reply_is_lost) {
  ASSERT_TRUE(becomes_answered(0, net::Family::v4));
  lab::SceneNode talked_to = scene_node(0);
  talked_to.service = talked_to.vip;
  auto traffic = lab::Traffic::start(scene(), talked_to, 1);
  ASSERT_TRUE(traffic) << traffic.error().message();
  const std::string before = agent_pods();
  patch_agent(R"({"logLevel":"debug"})");
  ASSERT_TRUE(eventually("both have been replaced", kBound, [&] {
    const std::string now = agent_pods();
    return std::ranges::count(now, '\n') == 2 && !now.contains(before.substr(0, before.find('\n'))) &&
           !now.contains(before.substr(before.find('\n') + 1));
  }));
  ASSERT_TRUE(agents_become_ready());
  const auto tally = (*traffic)->stop();
  ASSERT_TRUE(tally) << tally.error().message();
  EXPECT_GT(tally->requests, 100);
  EXPECT_EQ(tally->replies_out, (lab::UplinkCount{.eth0 = 0, .eth1 = tally->requests}));
  EXPECT_EQ(tally->answered, tally->requests);
  expect_untouched();
  patch_agent(R"({"logLevel":null})");
  ASSERT_TRUE(agents_become_ready());
}

TEST_F(RealNodeConduct, S24_a_drained_node_keeps_its_agent_and_its_rules) {
  testbed::Node& node = *nodes().front();
  const std::string pod = agent_pod(node);
  kubectl({"drain", node.name(), "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=100s"});
  EXPECT_EQ(agent_pod(node), pod);
  EXPECT_TRUE(eventually("the controllers run elsewhere", kBound, [&] {
    return !kubectl({"get", "pods", "--namespace=" + kNamespace, "--selector=control-plane=controller-manager", "-o",
                     "jsonpath={.items[*].spec.nodeName}"})
                .contains(node.name());
  }));
  expect_untouched();
  kubectl({"uncordon", node.name()});
}

// The kubelet writes the limit into the container's cgroup, and the kernel keeps it.
TEST_F(RealNodeConduct, I2_an_agent_stays_below_its_memory_limit_and_one_that_is_killed_there_leaves_its_rules) {
  const auto limit = [this](const std::string& memory) {
    patch_agent(fmt::format(R"({{"resources":{{"requests":{{"memory":{0}}},"limits":{{"memory":{0}}}}}}})", memory));
  };
  const auto ends = [this] {
    return kubectl({"get", "pods", "--namespace=" + kNamespace, "--selector=app=iprule-agent", "-o",
                    "jsonpath={.items[*].status.containerStatuses[*]['state','lastState'].terminated.reason}"});
  };
  testbed::Node& node = *nodes().front();
  const auto are_steered = [&](std::size_t pods) {
    return eventually(fmt::format("{} pods are steered", pods), kBound,
                      [&] { return static_cast<std::size_t>(std::ranges::count(marks(node), ':')) > pods; });
  };
  limit("\"5Mi\"");
  publish_pods(1'000);
  ASSERT_TRUE(agents_become_ready());
  ASSERT_TRUE(are_steered(1'000)) << marks(node).substr(0, 2000);
  EXPECT_EQ(ends(), "") << "16Mi are asked for by default, of which most is the kernel's to take back";

  auto watch = RuleWatch::start(node);
  ASSERT_TRUE(watch) << watch.error().message();
  publish_pods(10'000);
  EXPECT_TRUE(eventually("one is killed for its memory", kBound, [&] { return ends().contains("OOMKilled"); }))
      << ends() << kubectl({"get", "pods", "--namespace=" + kNamespace});
  EXPECT_TRUE(are_steered(1'000));
  limit("null");
  ASSERT_TRUE(agents_become_ready());
  EXPECT_TRUE(are_steered(10'000));
  EXPECT_EQ(watch->changes(), "") << "only members of a class came";
  withdraw_pods();
}

TEST_F(RealNodeConduct, D21_a_node_that_is_no_longer_selected_is_cleaned_and_the_other_is_not) {
  patch_agent(fmt::format(R"({{"nodeSelector":{{"kubernetes.io/hostname":"{}"}}}})", nodes()[0]->name()));
  EXPECT_TRUE(eventually("its rules are gone", kBound, [&] {
    return !rules(*nodes()[1]).contains("proto 183") && marks(*nodes()[1]).empty();
  })) << rules(*nodes()[1]);
  EXPECT_TRUE(agents_become_ready());
  EXPECT_TRUE(rules_become_present(*nodes()[0]));
  EXPECT_THAT(watches_[0].changes(), Not(HasSubstr("Deleted")));
  patch_agent(R"({"nodeSelector":{"kubernetes.io/hostname":null}})");
  EXPECT_TRUE(agents_become_ready());
  EXPECT_TRUE(rules_become_present(*nodes()[1]));
}

TEST_F(RealNodeConduct, D22_without_an_agent_the_nodes_are_clean_and_with_one_again_as_they_were) {
  kubectl({"delete", "agent", "agent", "--namespace=" + kNamespace});
  EXPECT_TRUE(eventually("their pods are gone", kBound, [&] { return agent_pods().empty(); }));
  for (const auto& node : nodes()) {
    EXPECT_THAT(rules(*node), Not(HasSubstr("proto 183"))) << node->name();
    EXPECT_EQ(marks(*node), "") << node->name();
  }
  EXPECT_THAT(kubectl({"get", "iprules"}), HasSubstr("public-eu"));
  kubectl({"apply", "-f", (kSource / "config/samples/agent.yaml").native()});
  EXPECT_TRUE(agents_become_ready());
  for (const auto& node : nodes()) EXPECT_TRUE(rules_become_present(*node));
}

}  // namespace
}  // namespace node_test
