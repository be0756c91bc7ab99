#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/footprint.h"
#include "bench/seed.h"
#include "bench/stage.h"

namespace bench {

// A cluster with any number of Services, as many published objects and 50 IPRules, in which everything is right; and
// one node of it. Nothing runs beside the control plane: who measures a program starts it.
class Inventory {
 public:
  static base::Result<std::unique_ptr<Inventory>> start();

  base::Status grow_to(std::uint32_t objects);
  // How nodes steer: "auto", "rules" or "marks".
  base::Status steer_by(std::string_view dataplane);

  using Command = std::vector<std::string>;  // Of a program that takes its access from KUBECONFIG.

  // The node's agent, in a new namespace or in that of the one before, with what that one has left there. An older one
  // is killed.
  base::Result<lab::Process*> start_agent(const Command& command);
  base::Result<lab::Process*> restart_agent(const Command& command);
  // Milliseconds from its start to the moment at which the node has been read back and has everything.
  base::Result<double> await_ready();
  // What its metrics say.
  base::Result<double> metric(std::string_view name);
  lab::Host& node() { return *node_; }

  // Milliseconds in which the API server hands over all published objects to somebody who only takes the bytes.
  base::Result<double> list_alone();

  base::Result<lab::Process> start_controller(Command command);
  Stage& stage() { return *stage_; }

 private:
  Inventory() = default;

  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Seed> seed_;
  lab::Host* node_ = nullptr;
  std::chrono::steady_clock::time_point started_{};
  int nodes_ = 0;
};

}  // namespace bench
