#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "kube/client.h"
#include "testbed/cluster.h"

namespace controller_test {

// Plays everybody but the controller on a real API server: users, load balancers, kubelets and agents.
class ClusterScript {
 public:
  ClusterScript();  // Our kinds are there, and nothing of an earlier test.
  ~ClusterScript();

  // Nodes, Agents and their pods, in the name space `ns`.
  void add_agent(const std::string& spec = "{}");
  void patch_agent(const std::string& patch);
  enum class AgentKind { ours, old };
  void add_node(const std::string& name, AgentKind kind = AgentKind::ours);  // With an agent's pod, ready.
  void delete_node(const std::string& name);
  void forget_rules();  // And Services, and what followed from them; nodes and Agents stay.

  void put_rule(const std::string& name, const std::string& spec);
  void delete_rule(const std::string& name);
  // With its load balancer address; returns its ClusterIP, which the server chooses unless it is given.
  std::string put_service(const std::string& name, const std::string& vip, const std::string& cluster_ip = {});
  void delete_service(const std::string& name);

  // The agent of a node has done everything up to now, and says so.
  void report(const std::string& node);
  void report_epoch(const std::string& node, std::uint64_t epoch);
  void report_all();
  void report_failure(const std::string& node, const std::string& config);  // All is done up to now but this object.
  void report_condition(const std::string& node, const std::string& condition);  // In its report, as JSON.
  // As an agent of the old project does it: read, add the annotation, write.
  void acknowledge_as_old_agent(const std::string& config, const std::string& node);
  void patch_config(const std::string& name, const std::string& patch);

  std::vector<api::IPRuleConfig> configs();
  std::vector<api::NodeState> states();
  std::optional<api::IPRuleConfig> config(const std::string& name);
  api::IPRule rule(const std::string& name);
  std::string condition(const std::string& rule, const std::string& type);  // "True AllNodes"
  std::string events();                                                     // All of them, as the server lists them.

  kube::Client& client() { return *client_; }

  static constexpr const char* kNamespace = "agents";

 private:
  std::uint64_t newest_version();

  testbed::Cluster& cluster_ = testbed::shared_cluster();
  std::unique_ptr<kube::Client> client_;
};

// Agents that do at once whatever they are told.
class ObedientAgents {
 public:
  explicit ObedientAgents(ClusterScript& script);

 private:
  std::jthread thread_;
};

}  // namespace controller_test
