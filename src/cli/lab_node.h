#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/scene.h"
#include "state/net_state.h"

namespace cli {

// A node of the lab with the agent on it, which reads its manifests from a folder.
class LabNode {
 public:
  LabNode(lab::SceneNode& node, std::filesystem::path agent, std::filesystem::path folder)
      : node_(node), agent_program_(std::move(agent)), folder_(std::move(folder)) {}

  const lab::SceneNode& scene() const { return node_; }

  // What the folder holds from now on, all of it.
  base::Status write_manifests(std::string_view text);
  base::Status start_agent();
  void kill_agent();
  bool runs_agent() { return agent_ != nullptr && agent_->running(); }

  // Waits until the kernel is so, by its own word; how long it took. An error with the agent's last words if it never
  // is.
  using Fact = std::function<bool(const state::NetState&)>;
  base::Result<std::chrono::milliseconds> wait_until(std::string_view what, const Fact& fact);

 private:
  lab::SceneNode& node_;
  std::filesystem::path agent_program_;
  std::filesystem::path folder_;
  lab::Process* agent_ = nullptr;
};

}  // namespace cli
