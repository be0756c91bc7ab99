// What the agent says about itself over HTTP.
#include <gmock/gmock.h>

#include "agent_on_node.h"
#include "http/server.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AgentProbes : public AgentOnNode {};

TEST_F(AgentProbes, D33_ready_means_that_the_rules_are_there) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  EXPECT_THAT(ask("/ready"), HasSubstr("\r\n\r\nready"));
  EXPECT_THAT(ask("/health"), HasSubstr("\r\n\r\nok"));
  const std::string metrics = ask("/metrics");
  EXPECT_THAT(metrics, HasSubstr("\niprule_agent_desired_rules 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\niprule_agent_present_rules 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\niprule_agent_rules_added_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\niprule_agent_drift_repairs_total 0\n"));
  EXPECT_THAT(metrics, HasSubstr("\nrest_client_requests_total{code=\"200\",host="));
}

TEST_F(AgentProbes, D33_without_the_right_to_change_rules_an_agent_is_not_ready_and_says_why) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({}, {"setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"});
  EXPECT_TRUE(answers("/ready", "NotPermitted"));
  EXPECT_THAT(ask("/ready"), HasSubstr("503 Service Unavailable"));
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"Synced\")].reason", "NotPermitted"));
  EXPECT_EQ(reported(".sync"), "Failing");
}

// The kubelet must not restart an agent for its server's silence: it holds what it knows.
TEST_F(AgentProbes, an_agent_whose_server_hangs_is_alive_and_repairs) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  cluster_.api_server().freeze();
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_THAT(ask("/health"), HasSubstr("200 OK"));
  cluster_.api_server().thaw();
}

TEST_F(AgentProbes, an_agent_that_starts_before_a_hanging_server_is_alive_but_not_ready) {
  cluster_.api_server().freeze();
  start_agent();
  EXPECT_TRUE(answers("/ready", "503 Service Unavailable"));
  EXPECT_THAT(ask("/health"), HasSubstr("200 OK"));
  cluster_.api_server().thaw();
  EXPECT_TRUE(answers("/ready", "200 OK"));
}

TEST_F(AgentProbes, D34_a_name_that_is_no_node_is_never_ready) {
  kubectl({"delete", "node", kNode});
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(answers("/ready", "NoSuchNode"));
}

TEST_F(AgentProbes, E2_with_the_token_of_another_node_nothing_is_touched_or_reported) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ip({"rule", "add", "from", "10.96.1.77", "lookup", "100", "priority", "1000", "protocol", "183"});
  const std::string before = rules();
  start_agent({}, {}, account_of_pod_on("other"));
  EXPECT_TRUE(answers("/ready", "WrongNode"));
  EXPECT_THAT(ask("/ready"), HasSubstr("503 Service Unavailable"));
  agent_->signal(SIGTERM);
  EXPECT_TRUE(agent_->wait_exit(kBound));
  EXPECT_EQ(rules(), before) << "not even when it ends";
  EXPECT_EQ(reported(""), "");
}

// While it starts it refuses what it allows later, and one refusal would be an answer for as long as the agent lives.
TEST_F(AgentProbes, E2_what_a_server_that_is_starting_refuses_is_no_answer) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  const std::string before = rules();
  account_of_pod_on("other");
  const auto account = cluster_.service_account("default", "edge-agent", "agent-on-other");
  ASSERT_TRUE(account) << account.error().message();
  testbed::FaultProxy proxy(http::Url::parse(cluster_.url()).value(),
                            {.ca = base::read_file(cluster_.authority_file()).value_or("")}, cluster_.address().text());
  proxy.inject({.verb = "create", .resource = "selfsubjectreviews"},
               testbed::fault::Answer{.status = 403, .body = "RBAC: clusterrole not found"});
  start_agent({}, {}, proxy.kubeconfig(account->token));
  EXPECT_TRUE(answers("/ready", "WrongNode"));
  EXPECT_EQ(proxy.faults(), 1);
  EXPECT_EQ(rules(), before);
  agent_->kill();  // Before its way to the server goes.
}

TEST_F(AgentProbes, E2_with_the_token_of_its_own_node_all_is_as_without) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({}, {}, account_of_pod_on(kNode));
  EXPECT_TRUE(answers("/ready", "200 OK"));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
}

// In a pod's own network there is nothing to keep, however much it looks like a node that has lost its rules.
TEST_F(AgentProbes, F14_outside_the_nodes_network_nothing_is_touched) {
  ask_for_report("t");
  kubectl({"patch", "node", kNode, "--subresource=status", "--type=merge", "-p",
           R"({"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.1"}]}})"});
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ip({"rule", "add", "from", "10.96.1.77", "lookup", "100", "priority", "1000", "protocol", "183"});
  const std::string before = rules();
  start_agent();
  EXPECT_TRUE(answers("/ready", "NotTheHostsNetwork"));
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"Synced\")].reason", "NotTheHostsNetwork"));
  EXPECT_EQ(rules(), before);
  ip({"address", "add", "192.0.2.1/32", "dev", "lo"});
  EXPECT_TRUE(answers("/ready", "200 OK"));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  EXPECT_THAT(rules(), Not(HasSubstr("10.96.1.77")));
}

// That it falls to others to put them back is no reason to be silent.
TEST_F(AgentProbes, F2_a_missing_rule_of_the_kernel_is_reported_and_left_to_its_owner) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(becomes_reported(".sync", "InSync"));
  ip({"rule", "del", "priority", "32767"});
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"BaselineMissing\")].status", "True"));
  EXPECT_THAT(reported(".conditions[?(@.type==\"BaselineMissing\")].message"), HasSubstr("IPv4 default"));
  EXPECT_THAT(rules(), Not(HasSubstr("lookup default")));
  ip({"rule", "add", "lookup", "default", "priority", "32767"});
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"BaselineMissing\")].status", ""));
}

// Its rights to read are another role's than that to report.
TEST_F(AgentProbes, A11_rights_taken_away_are_told_and_the_rules_stay) {
  kubectl({"create", "serviceaccount", "watched"});
  kubectl({"create", "clusterrole", "reads", "--verb=get,list,watch",
           "--resource=nodes,ipruleconfigs.api.operator.brtrm.dev,agents.api.operator.brtrm.dev,"
           "nodestates.api.operator.brtrm.dev"});
  kubectl({"create", "clusterrole", "reports", "--verb=patch", "--resource=nodestates.api.operator.brtrm.dev/status"});
  kubectl({"create", "clusterrolebinding", "reads", "--clusterrole=reads", "--serviceaccount=default:watched"});
  kubectl({"create", "clusterrolebinding", "reports", "--clusterrole=reports", "--serviceaccount=default:watched"});
  const auto account = cluster_.service_account("default", "watched");
  ASSERT_TRUE(account) << account.error().message();
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({}, {}, cluster_.kubeconfig(*account));
  ASSERT_TRUE(becomes_reported(".sync", "InSync"));

  kubectl({"delete", "clusterrolebinding", "reads"});
  ASSERT_TRUE(cluster_.api_server().restart());  // It asks again for a watch's rights only when that begins anew.
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"Synced\")].reason", "NoAccess"));
  EXPECT_TRUE(answers("/ready", "[!]watch: NoAccess"));
  EXPECT_THAT(ask("/ready"), HasSubstr("200 OK")) << "what it knows is in the kernel";
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  kubectl({"create", "clusterrolebinding", "reads", "--clusterrole=reads", "--serviceaccount=default:watched"});
  EXPECT_TRUE(becomes_reported(".sync", "InSync"));
  EXPECT_THAT(ask("/ready"), Not(HasSubstr("NoAccess")));
}

// As programs of the host do that the scheduler knows nothing of.
TEST_F(AgentProbes, D35_while_somebody_else_has_its_port_an_agent_keeps_the_rules) {
  std::optional<http::Server> other;
  const auto taken = node_->within([&]() -> base::Status {
    other.emplace(TRY(http::Server::listen({.address = {}, .port = 9090}, {})));
    return {};
  });
  ASSERT_TRUE(taken) << taken.error().message();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(eventually("it is told", kBound, [&] { return agent_->output().contains("cannot be served"); }));
  other.reset();
  EXPECT_TRUE(answers("/ready", "200 OK"));
}

TEST_F(AgentProbes, D30_a_flush_is_repaired_at_once_and_counted) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({"RECONCILE_PERIOD=1h"});  // No audit within this test: the kernel's word alone must do.
  ASSERT_TRUE(answers("/ready", "200 OK"));
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(answers("/metrics", "\niprule_agent_drift_repairs_total 1\n"));
}

TEST_F(AgentProbes, D27_an_object_without_a_priority_gets_the_one_of_the_active_agent) {
  apply(
      fmt::format("apiVersion: {}\nkind: Agent\nmetadata: {{name: agent, namespace: default}}\n"
                  "spec: {{defaultPriority: 31000}}\n",
                  api::kApiVersion));
  auto object = config("iprc-10-96-1-50", "10.96.1.50");
  object.spec.priority = 0;
  publish(object);
  start_agent();
  EXPECT_TRUE(eventually("the rule is at the Agent's priority", kBound,
                         [&] { return rules().contains("31000:\tfrom 10.96.1.50 lookup 100 proto 183"); }));
}

}  // namespace
}  // namespace cluster_test
