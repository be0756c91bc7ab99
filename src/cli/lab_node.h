#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answer.h"
#include "lab/scene.h"
#include "state/net_state.h"

namespace cli {

// The end of what a program said, from the start of a line.
std::string last_words(const lab::Process& program);

// A node of the lab with the agent on it.
class LabNode {
 public:
  LabNode(lab::SceneNode& node, lab::Command agent) : node_(node), agent_command_(std::move(agent)) {}

  const lab::SceneNode& scene() const { return node_; }

  base::Status start_agent();  // Unless it runs.
  void kill_agent();

  // Waits until the kernel is so, by its own word; how long it took. An error with the agent's last words if it never
  // is.
  using Fact = std::function<bool(const state::NetState&)>;
  base::Result<std::chrono::milliseconds> wait_until(std::string_view what, const Fact& fact);

  // The answer to a question that is asked on the node.
  base::Result<Answer> answer(const std::function<base::Result<Answer>()>& question) const;

 private:
  bool runs_agent() { return agent_ != nullptr && agent_->running(); }

  lab::SceneNode& node_;
  lab::Command agent_command_;
  lab::Process* agent_ = nullptr;
};

}  // namespace cli
