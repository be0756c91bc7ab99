// The kernels of real nodes, asked from elsewhere: by exec in the agents' pods, with no more rights than the role for
// it gives.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "real_node.h"
#include "testbed/process.h"

namespace node_test {
namespace {

using testing::HasSubstr;

class RealNodeQuery : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(install());
    ASSERT_NO_FATAL_FAILURE(publish_services());
    kubectl({"create", "clusterrole", "reads", "--verb=get,list",
             "--resource=pods,nodes,services,endpointslices.discovery.k8s.io,iprules,ipruleconfigs,agents,nodestates"});
    kubectl({"create", "clusterrolebinding", "reads", "--clusterrole=reads", "--user=person"});
  }
  void TearDown() override {
    if (IsSkipped()) return;
    kubectl({"delete", "clusterrole/reads", "clusterrolebinding/reads", "--ignore-not-found"});
    kubectl({"delete", "rolebinding", "asks-kernels", "--namespace=" + kNamespace, "--ignore-not-found"});
    RealNode::TearDown();
  }

  testbed::Finished iprulectl(std::vector<std::string> words) {
    words.insert(words.begin(), IPRULECTL);
    words.insert(words.end(), {"--as", "person", "--kubeconfig", cluster_->admin_kubeconfig().native()});
    const auto done = testbed::run({.arguments = std::move(words)}, kBound);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
};

TEST_F(RealNodeQuery, a_node_answers_whoever_has_the_right_and_its_report_stands_in_for_others) {
  const std::string node = nodes().front()->name();
  const auto without = iprulectl({"doctor", "--node", node});
  EXPECT_EQ(without.exit.code, 3) << without.output << without.errors;
  EXPECT_THAT(without.output, HasSubstr(node + ", by what its agent reported\n"));
  EXPECT_THAT(without.output, HasSubstr(fmt::format("Not asked: the kernel of {}: 403 Forbidden: ", node)));

  kubectl({"create", "rolebinding", "asks-kernels", "--namespace=" + kNamespace,
           "--clusterrole=ip-rule-operator-agent-query-role", "--user=person"});
  const auto doctor = iprulectl({"doctor", "--node", node});
  EXPECT_EQ(doctor.exit.code, 1) << doctor.output << doctor.errors;
  EXPECT_THAT(doctor.output, HasSubstr(node + ", its kernel asked now\n"));
  EXPECT_THAT(doctor.output, HasSubstr("rules here match sources, of which only pods are seen"));
  EXPECT_THAT(doctor.output, HasSubstr("rule walk")) << "which no report tells";

  const auto packet = iprulectl({"explain", "--to", "198.18.7.9", "--node", node, "-o", "json"});
  EXPECT_EQ(packet.exit.code, 0) << packet.errors;
  EXPECT_THAT(packet.output, HasSubstr(R"("kind":"Explanation")"));
  EXPECT_THAT(packet.output, HasSubstr(R"("agree":true)"));
  const auto wrong =
      iprulectl({"explain", "--to", "198.18.7.9", "--from", "10.1.1.1", "--iif", "none7", "--node", node});
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_EQ(wrong.errors, fmt::format("iprulectl: the kernel of {}: --iif: this host has no device none7\n", node));
}

TEST_F(RealNodeQuery, replies_of_a_Service_are_followed_through_the_kernels_of_its_pods_nodes) {
  kubectl({"create", "rolebinding", "asks-kernels", "--namespace=" + kNamespace,
           "--clusterrole=ip-rule-operator-agent-query-role", "--user=person"});
  ASSERT_TRUE(becomes_answered(0));
  const std::string vip = scene_node(0).vip[0].text();
  const std::string client = lab::Scene::client_address(net::Family::v4).text();
  const auto done = iprulectl({"explain", "vip/" + vip, "--client", client});
  EXPECT_THAT(done.output, HasSubstr(fmt::format(" to {}, of a connection to {}\n", client, vip)));
  EXPECT_THAT(done.output, HasSubstr("marked by table inet iprule"));
  EXPECT_THAT(done.output, HasSubstr("Kernel   agrees\nReply    RIGHT UPLINK: table 100\n"));
  EXPECT_THAT(done.output, testing::Not(HasSubstr("Not asked")));
  EXPECT_NE(done.exit.code, 3) << done.errors;
}

}  // namespace
}  // namespace node_test
