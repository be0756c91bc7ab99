#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/lab_node.h"

namespace cli {

// What a person typed, and the answer.
struct LabQuestion {
  std::string prompt;  // "worker-1 $"
  std::string words;   // "plan -f public-eu.yaml"
  Answer answer;
};

// The operator in the lab, and the service proxies of its nodes: agents over folders with the proxies' rules laid by
// the lab, or a cluster with everything real. On return from where it is made, VIPs are translated on every node.
class LabInstallation {
 public:
  virtual ~LabInstallation() = default;

  std::deque<LabNode>& nodes() { return nodes_; }
  virtual std::string_view parts() const = 0;  // What each node has beside its uplinks, and all have in common.

  // What the node is asked for from now on, by an IPRule with one source mode. Its agent runs on return. In a cluster
  // all nodes are asked at once.
  virtual base::Status ask_for(LabNode& node, std::string_view mode) = 0;

  // Brings back what the node's service proxy had written before somebody removed it.
  virtual base::Status restore_proxy(LabNode& node) = 0;

  // What a change to that mode would do to the node.
  virtual base::Result<LabQuestion> plan(LabNode& node, std::string_view mode) = 0;

  // What a person may type inside a world that is kept.
  virtual std::vector<std::string> ways_to_look() const = 0;

 protected:
  std::string show_rules() const { return "ip netns exec " + nodes_.front().scene().name + " ip rule"; }

  std::deque<LabNode> nodes_;
};

}  // namespace cli
