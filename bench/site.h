#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/resident.h"
#include "kernel/netlink/events.h"
#include "kube/client.h"
#include "lab/world.h"
#include "state/rule.h"
#include "testbed/cluster.h"

namespace bench {

// A control plane, one node, and the two programs as they are shipped; 203.0.113.0/24 leads to table 100. What happens
// in the node's kernel is heard as notifications, so that waiting costs nothing and ends at the moment itself.
class Site {
 public:
  static base::Result<std::unique_ptr<Site>> start();

  // Creates LoadBalancer Services until there are `count`, all with an address, and waits for their rules.
  base::Status grow_to(std::uint32_t count);

  // Milliseconds from the moment a Service is given its address to its rule in the node's kernel. It is there for
  // this one go.
  base::Result<double> publish();
  // Milliseconds from the removal of one of our rules by somebody else to its return.
  base::Result<double> repair();

  double agent_mebibytes() const { return resident_mebibytes(agent_->pid()); }
  double controller_mebibytes() const { return resident_mebibytes(controller_->pid()); }

 private:
  Site() = default;
  base::Status prepare();
  base::Result<std::string> create_service(std::uint32_t i);  // Its ClusterIP.
  base::Status give_address(std::uint32_t i);
  base::Status await_rules(std::vector<std::string> sources);

  std::unique_ptr<testbed::Cluster> cluster_;
  std::unique_ptr<kube::Client> client_;
  std::optional<lab::World> world_;  // After the cluster, whose bridge the node is plugged into.
  lab::Host* node_ = nullptr;
  std::optional<kernel::EventSocket> events_;
  std::optional<lab::Process> controller_;
  lab::Process* agent_ = nullptr;
  std::uint32_t services_ = 0;
  std::size_t repaired_ = 0;
  std::vector<state::Rule> seen_;  // Our rules, as their notifications came.
};

}  // namespace bench
