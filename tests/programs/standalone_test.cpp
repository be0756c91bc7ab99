// `iprule-agent standalone`: a folder of manifests on one host, without Kubernetes.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_test.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace {

using namespace std::chrono_literals;
using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

constexpr auto kAgentBound = 20s;

std::string rule_manifest(int table) {
  return fmt::format(
      "kind: IPRule\nmetadata: {{name: public}}\nspec: {{cidrs: [203.0.113.0/24], table: {}, priority: 1000}}\n",
      table);
}

class Standalone : public HostTest {
 protected:
  testing::AssertionResult rule_looks_up(int table) {
    return eventually(fmt::format("the rule to table {} is there", table), kAgentBound,
                      [&] { return rules().contains(fmt::format("from 10.96.23.17 lookup {} proto 183", table)); });
  }

  // The script has the agent's command as its arguments.
  void start_agent_in_shell(const std::string& script) {
    const auto started =
        host_->start({.arguments = {"bash", "-c", script, "agent", IPRULE_AGENT, "standalone", folder()}});
    ASSERT_TRUE(started) << started.error().message();
  }
};

TEST_F(Standalone, once_applies_and_ends) {
  auto ended = start_agent({"--once"}).wait_exit(kAgentBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_TRUE(ended->ok()) << ended->text();
  EXPECT_THAT(rules(), HasSubstr("1000:\tfrom 10.96.23.17 lookup 100 proto 183"));
}

TEST_F(Standalone, a_changed_file_changes_the_rule_and_leaves_one) {
  start_agent();
  ASSERT_TRUE(rule_looks_up(100));
  write("rule.yaml", rule_manifest(200));
  ASSERT_TRUE(rule_looks_up(200));
  EXPECT_TRUE(eventually("the old rule is gone", kAgentBound, [&] { return !rules().contains("lookup 100"); }));
}

TEST_F(Standalone, a_broken_file_is_named_and_the_last_good_set_stays) {
  testbed::Process& agent = start_agent();
  ASSERT_TRUE(rule_looks_up(100));
  write("service.yaml", "kind: Service\nmetadata: {name: frontend\n");
  ASSERT_TRUE(eventually("the file is named", kAgentBound, [&] { return agent.output().contains("service.yaml"); }));
  EXPECT_THAT(rules(), HasSubstr("from 10.96.23.17 lookup 100 proto 183"));
  write("service.yaml", kService);
  write("rule.yaml", rule_manifest(200));
  EXPECT_TRUE(rule_looks_up(200)) << "once the file is right again, changes count";
}

TEST_F(Standalone, a_removed_manifest_removes_its_rule) {
  start_agent();
  ASSERT_TRUE(rule_looks_up(100));
  std::filesystem::remove(manifests_ / "service.yaml");
  EXPECT_TRUE(eventually("the rule is gone", kAgentBound, [&] { return !rules().contains("proto 183"); }));
}

// Of a Service's pods only those on this host, and only where its Node has the label that is asked for.
TEST_F(Standalone, endpoints_and_labels_come_from_the_folder_too) {
  write("rule.yaml",
        "kind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, "
        "nodeSelector: {site: eu}, source: {modes: [LocalEndpoints]}}\n");
  write("slice.yaml",
        "kind: EndpointSlice\nmetadata: {name: frontend-1, namespace: shop, labels: {kubernetes.io/service-name: "
        "frontend}}\naddressType: IPv4\nendpoints:\n- {addresses: [10.244.1.7], nodeName: router}\n"
        "- {addresses: [10.244.2.9], nodeName: another}\n");
  write("node.yaml", "kind: Node\nmetadata: {name: router, labels: {site: us}}\n");
  const std::vector<std::string> once = {IPRULE_AGENT, "--node-name", "router", "standalone", "--once", folder()};
  ASSERT_TRUE(run(once).exit.ok());
  EXPECT_THAT(rules(), Not(HasSubstr("proto 183"))) << "the label is another";
  write("node.yaml", "kind: Node\nmetadata: {name: router, labels: {site: eu}}\n");
  ASSERT_TRUE(run(once).exit.ok());
  EXPECT_THAT(rules(), HasSubstr("from 10.244.1.7 lookup 100 proto 183"));
  EXPECT_THAT(rules(), Not(HasSubstr("10.244.2.9")));
}

TEST_F(Standalone, D22_cleanup_removes_all_of_ours_and_nothing_else) {
  const auto ip = [&](std::vector<std::string> arguments) { EXPECT_TRUE(run(std::move(arguments)).exit.ok()); };
  ip({"ip", "rule", "add", "from", "10.96.23.17", "lookup", "100", "priority",
      "1000"});  // Somebody else's, and a twin.
  const std::string before = rules();
  ASSERT_TRUE(start_agent({"--once"}).wait_exit(kAgentBound));
  ASSERT_NE(rules(), before);
  ip({IPRULE_AGENT, "cleanup"});
  EXPECT_EQ(rules(), before);
  ip({IPRULE_AGENT, "cleanup"});  // Nothing to do is no failure.
}

TEST_F(Standalone, stopping_changes_nothing) {
  testbed::Process& agent = start_agent();
  ASSERT_TRUE(rule_looks_up(100));
  const std::string before = rules();
  agent.signal(SIGTERM);
  const auto ended = agent.wait_exit(kAgentBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_TRUE(ended->ok()) << ended->text();
  EXPECT_EQ(rules(), before);
}

// An agent that starts beside a folder whose files are being written, or have been mounted empty.
TEST_F(Standalone, S16_a_mass_removal_is_looked_at_twice_and_then_done) {
  std::string services;
  for (int i = 1; i <= 30; ++i) {
    services += fmt::format(
        "kind: Service\nmetadata: {{name: s{0}, namespace: shop}}\nspec: {{type: LoadBalancer, clusterIPs: "
        "[10.96.23.{0}]}}\nstatus: {{loadBalancer: {{ingress: [{{ip: 203.0.113.{0}}}]}}}}\n---\n",
        i);
  }
  write("service.yaml", services);
  ASSERT_TRUE(start_agent({"--once"}).wait_exit(kAgentBound));
  ASSERT_THAT(rules(), HasSubstr("from 10.96.23.30 lookup 100 proto 183"));
  write("service.yaml", "");
  start_agent();
  EXPECT_TRUE(eventually("all of them are gone", kAgentBound, [&] { return !rules().contains("proto 183"); }));
  write("service.yaml", services);
  EXPECT_TRUE(eventually("all of them are back", kAgentBound, [&] { return rules().contains("from 10.96.23.30 "); }));
}

TEST_F(Standalone, S20_a_log_that_nobody_reads_delays_nothing) {
  start_agent_in_shell(
      fmt::format("mkfifo {0}/.log && exec 3<>{0}/.log && head -c 65536 /dev/zero >&3 && exec \"$@\" >&3", folder()));
  ASSERT_TRUE(rule_looks_up(100));
  ASSERT_TRUE(run({"ip", "rule", "flush", "protocol", "183"}).exit.ok());
  EXPECT_TRUE(rule_looks_up(100));
}

TEST_F(Standalone, S20_a_log_whose_reader_has_gone_ends_nobody) {
  start_agent_in_shell("\"$@\" | true");
  ASSERT_TRUE(rule_looks_up(100));
  ASSERT_TRUE(run({"ip", "rule", "flush", "protocol", "183"}).exit.ok());
  EXPECT_TRUE(rule_looks_up(100));
}

}  // namespace
