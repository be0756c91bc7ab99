#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lab/scene.h"
#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/node.h"
#include "testbed/temp_folder.h"

namespace node_test {

constexpr auto kBound = std::chrono::seconds(120);  // Pods start in seconds; on a busy machine in many.
inline const std::filesystem::path kSource = IPRULE_SOURCE_DIR;
inline const std::string kNamespace = "ip-rule-operator-system";

// A cluster of two real nodes with two uplinks each, and a client beyond the second. Pods of two DaemonSets answer on
// each node, one with the pod network, one with the host's.
struct Machines {
  testbed::TempFolder images;
  std::unique_ptr<testbed::Cluster> cluster;
  std::optional<lab::World> world;
  std::unique_ptr<lab::Scene> scene;
  std::vector<std::unique_ptr<testbed::Node>> nodes;
};

// What a person does with it: builds the images, installs, writes rules, looks into the nodes' kernels, and removes
// everything again. The machines are started once for all tests; the install is left for the next test that needs it.
class RealNode : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string kubectl(std::vector<std::string> arguments, std::string input = {});
  void apply(std::string manifest) { kubectl({"apply", "-f", "-"}, std::move(manifest)); }
  void make(std::vector<std::string> words);
  // What a page says, as a reader types it in the folder of the sources; both outputs. It ends at the first failure,
  // which is one of the test.
  std::string type(const std::string& commands);

  // dist/install.yaml and the sample Agent, unless they are there; the agents are ready then.
  void install();
  void delete_install_file();  // All of it at once, the kinds included, while the agents run.
  void undeploy();             // Leaves the kinds and what people wrote.
  void uninstall();            // Those too.
  testing::AssertionResult agents_become_ready();
  std::string agent_pods();  // One name a line, sorted.
  std::string agent_pod(const testbed::Node& node);

  // Two Services, each with the pod of one node behind its addresses of both families, and the example's rule for both,
  // in two modes: the rules that follow from ClusterIPs can be told apart, and replies are steered whatever the service
  // proxy does.
  void publish_services();
  std::string publish_service(std::size_t node);  // One of them, with its load balancer addresses; its first ClusterIP.
  void withdraw_services();
  // The lines that `ip rule` must have for them on every node.
  std::vector<std::string> wanted_rules(net::Family family);
  testing::AssertionResult rules_become_present(testbed::Node& node);
  // Requests of the client for the address that leads to a node, and whether all of them are answered by now.
  lab::Tally ask(std::size_t node, net::Family family, std::chrono::milliseconds bound = std::chrono::seconds(10));
  testing::AssertionResult becomes_answered(std::size_t node, net::Family family);
  static constexpr int kRequests = 20;

  static std::string rules(testbed::Node& node, net::Family family);
  static std::string rules(testbed::Node& node);  // Of both families.
  static std::string marks(testbed::Node& node);  // Our nftables table, handles included; "" where there is none.

  const std::vector<std::unique_ptr<testbed::Node>>& nodes() const { return machines_->nodes; }
  lab::Scene& scene() const { return *machines_->scene; }
  lab::SceneNode& scene_node(std::size_t i) const { return machines_->scene->nodes().at(i); }

  testbed::Cluster* cluster_ = nullptr;

 private:
  static inline bool is_deployed_ = false;
  static inline bool has_kinds_ = false;
  Machines* machines_ = nullptr;
};

// Hears what happens to the rules of a node from now on.
class RuleWatch {
 public:
  static base::Result<RuleWatch> start(testbed::Node& node);
  // Every change of a rule since, but for the one with which an agent finds out what its kernel can.
  std::string changes();

 private:
  RuleWatch(testbed::Node& node, lab::Process& monitor) : node_(&node), monitor_(&monitor) {}
  bool catch_up();  // Whether all until now has been heard.

  testbed::Node* node_;
  lab::Process* monitor_;  // The host's, ends with it.
  int marker_ = 1;
};

}  // namespace node_test
