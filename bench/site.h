#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/footprint.h"
#include "bench/rule_events.h"
#include "bench/stage.h"

namespace bench {

// A control plane, one node, and the two programs as they are shipped; 203.0.113.0/24 leads to table 100.
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
  // Milliseconds from the removal of the first of all Services to the end of the last rule and the last object.
  base::Result<double> remove_all();

  // What both programs do while nothing happens.
  struct Idle {
    double agent_processor = 0;  // Milliseconds per minute.
    double controller_processor = 0;
    double requests = 0;  // Per minute, of both.
  };
  base::Result<Idle> idle();

  base::Result<Footprint> agent_footprint() const { return footprint_at_rest(agent_->pid()); }
  base::Result<Footprint> controller_footprint() const { return footprint_at_rest(controller_->pid()); }

 private:
  Site() = default;
  base::Status prepare();
  base::Result<std::string> create_service(std::uint32_t i);  // Its ClusterIP.
  base::Status give_address(std::uint32_t i);

  std::unique_ptr<Stage> stage_;
  lab::Host* node_ = nullptr;
  std::optional<RuleEvents> events_;
  std::optional<lab::Process> controller_;
  lab::Process* agent_ = nullptr;
  std::uint32_t services_ = 0;
  std::size_t repaired_ = 0;
};

}  // namespace bench
