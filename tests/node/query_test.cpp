// The kernels of real nodes, asked from elsewhere: by exec in the agents' pods, with no more rights than the role for
// it gives.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "real_node.h"
#include "testbed/eventually.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

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

  testbed::Command command(std::vector<std::string> words) {
    words.insert(words.begin(), IPRULECTL);
    words.insert(words.end(), {"--as", "person", "--kubeconfig", cluster_->admin_kubeconfig().native()});
    return {.arguments = std::move(words)};
  }
  static testbed::Finished run(testbed::Command command) {
    const auto done = testbed::run(std::move(command), kBound);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  testbed::Finished iprulectl(std::vector<std::string> words) { return run(command(std::move(words))); }
  void let_person_ask() {
    kubectl({"create", "rolebinding", "asks-kernels", "--namespace=" + kNamespace,
             "--clusterrole=ip-rule-operator-agent-query-role", "--user=person"});
  }
};

TEST_F(RealNodeQuery, a_node_answers_whoever_has_the_right_and_its_report_stands_in_for_others) {
  const std::string node = nodes().front()->name();
  const auto without = iprulectl({"doctor", "--node", node});
  EXPECT_EQ(without.exit.code, 3) << without.output << without.errors;
  EXPECT_THAT(without.output, HasSubstr(node + ", by what its agent reported\n"));
  EXPECT_THAT(without.output, HasSubstr(fmt::format("Not asked: the kernel of {}: 403 Forbidden: ", node)));

  let_person_ask();
  const auto doctor = iprulectl({"doctor", "--node", node});
  EXPECT_NE(doctor.exit.code, 3) << doctor.output << doctor.errors;
  EXPECT_THAT(doctor.output, HasSubstr(node + ", its kernel asked now\n"));
  EXPECT_THAT(doctor.output, HasSubstr("  reply source ")) << "by its connections";
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
  let_person_ask();
  ASSERT_TRUE(becomes_answered(0, net::Family::v4));
  const std::string vip = scene_node(0).vip[0].text();
  const std::string client = lab::Scene::client_address(net::Family::v4).text();
  const auto done = iprulectl({"explain", "vip/" + vip, "--client", client});
  EXPECT_THAT(done.output, HasSubstr(fmt::format(" to {}, of a connection to {}\n", client, vip)));
  EXPECT_THAT(done.output, HasSubstr("marked by table inet iprule"));
  EXPECT_THAT(done.output, HasSubstr("Kernel   agrees\nReply    RIGHT UPLINK: table 100\n"));
  EXPECT_THAT(done.output, testing::Not(HasSubstr("Not asked")));
  EXPECT_NE(done.exit.code, 3) << done.errors;
}

TEST_F(RealNodeQuery, a_nodes_kernel_is_compared_with_what_is_published) {
  let_person_ask();
  testbed::Node& node = *nodes().front();
  const auto same = iprulectl({"diff", "--node", node.name()});
  EXPECT_EQ(same.exit.code, 0) << same.output << same.errors;
  EXPECT_THAT(same.output, HasSubstr("Diff: 0 of 1 nodes differ, by their kernels, asked now.\n"));
  const auto still = iprulectl({"drift", "--node", node.name()});
  EXPECT_EQ(still.exit.code, 0) << still.output << still.errors;
  EXPECT_THAT(still.output, HasSubstr("Kernels asked: 1.\n"));

  // One that agents leave alone, so that it is there when it is asked for.
  const std::string address = kubectl({"get", "service", "in-pods", "-o", "jsonpath={.spec.clusterIP}"});
  const std::vector<std::string> twin = {"from", address, "lookup", "200", "priority", "1000"};
  const auto change = [&](const char* verb) {
    std::vector<std::string> words = {"ip", "rule", verb};
    words.insert(words.end(), twin.begin(), twin.end());
    const auto done = node.run(words);
    EXPECT_TRUE(done) << done.error().message();
  };
  change("add");
  const auto drift = iprulectl({"drift", "--node", node.name()});
  EXPECT_EQ(drift.exit.code, 1) << drift.errors;
  EXPECT_THAT(drift.output, HasSubstr("  foreign, left alone  IPR0105\n"));
  const auto diff = iprulectl({"diff", "--node", node.name(), "--class", "rule", "--foreign"});
  EXPECT_THAT(diff.output,
              HasSubstr("  foreign, left alone: IPv4 rule 1000: from " + address + " lookup 200  IPR0105\n"));
  change("del");
}

TEST_F(RealNodeQuery, kubectls_login_asks_kernels_as_well) {
  let_person_ask();
  testbed::TempFolder folder;
  const auto program = folder / "kubectl";
  ASSERT_TRUE(
      base::write_file(program, fmt::format("#!/bin/sh\nexec '{}' kubectl \"$@\"\n", cluster_->program().native())));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string node = nodes().front()->name();
  testbed::Command through = command({"doctor", "--node", node, "--via", "kubectl"});
  through.environment = {"PATH=" + folder.path().native() + ":/usr/bin:/bin", "TMPDIR=" + folder.path().native()};
  const auto done = run(std::move(through));
  EXPECT_EQ(done.exit.code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr(node + ", its kernel asked now\n"));
}

TEST_F(RealNodeQuery, packets_of_a_pod_are_watched_on_its_node) {
  let_person_ask();
  ASSERT_TRUE(becomes_answered(0, net::Family::v4));
  testbed::Node& node = *nodes().front();
  const std::string pod =
      kubectl({"get", "pods", "--selector=app=in-pods", "--field-selector=spec.nodeName=" + node.name(), "-o",
               "jsonpath={.items[0].status.podIP}"});
  const std::string client = lab::Scene::client_address(net::Family::v4).text();
  auto live = testbed::Process::start(
      command({"explain", "--from", pod, "--to", client, "--proto", "udp", "--reply-of", scene_node(0).vip[0].text(),
               "--live", "3", "--request-timeout", "60s", "--node", node.name()}));
  ASSERT_TRUE(live) << live.error().message();
  const auto tables = [&] { return node.run({"nft", "list", "tables"}).value_or("unreadable"); };
  ASSERT_TRUE(testbed::eventually("it watches", kBound, [&] { return tables().contains("iprule-trace-"); }))
      << live->output() << live->errors();
  ask(0, net::Family::v4);
  const auto end = live->wait_exit(kBound);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->code, 0) << live->output() << live->errors();
  EXPECT_THAT(live->output(), HasSubstr("Live     3 of 3 packets seen\n"));
  EXPECT_THAT(live->output(), HasSubstr("inet iprule reply"));
  EXPECT_THAT(live->output(),
              HasSubstr(fmt::format("leaves by eth1, mark 0x100, as {} -> {}\n", scene_node(0).vip[0].text(), client)));
  EXPECT_TRUE(testbed::eventually("its table is gone", kBound, [&] { return !tables().contains("iprule-trace-"); }));
}

}  // namespace
}  // namespace node_test
