#pragma once

#include <string>
#include <vector>

#include "agent/manifests.h"
#include "agent/node_compiler.h"
#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "plan/plan.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace agent {

// A rule that is not ours, and stays as it is.
struct ForeignRule {
  std::string what{};        // "IPv4 rule 1000: from 10.96.23.17 lookup 200 proto static"
  bool beside_ours = false;  // About the same packets at the same priority as one that is wanted.

  bool operator==(const ForeignRule&) const = default;
};

// What an agent would do.
struct Preview {
  plan::Plan todo{};
  std::vector<std::string> skipped{};  // Objects that would not be programmed as they say, and why.
  std::vector<ForeignRule>
      foreign{};             // In the kernel's order, but for those that cannot be read whole: they come last.
  std::string doubt{};       // Why the node could not be seen whole: there may be more to do.
  state::NetState wanted{};  // What it would come to,
  state::NodeFacts facts{};  // on a node that shows this.
};

// On a node that looks like this, with the manifests as the whole of what is wanted there.
Preview preview(const Manifests& manifests, const std::string& node, const NodeSettings& settings,
                const state::Observation& seen, const state::NodeFacts& facts);

// What a node should hold that held nothing before.
state::NetState wanted_on(const Manifests& manifests, const std::string& node, const NodeSettings& settings,
                          const state::NodeFacts& facts);

// On this host, now. Nothing is written.
base::Result<Preview> preview_here(const Manifests& manifests, const std::string& node);

// The same of objects that are published, as an agent in a cluster reads them.
base::Result<Preview> preview_here(const std::vector<api::PublishedConfig>& configs, const std::string& node,
                                   const NodeSettings& settings);
state::NetState wanted_on(const std::vector<api::PublishedConfig>& configs, const std::string& node,
                          const NodeSettings& settings, const state::Observation& seen, const state::NodeFacts& facts);

// The facts of this host that decide how that is done. They are read in two steps: first what tables are looked up,
// then what is in them, for the devices there may have a strict reverse path filter.
base::Result<state::NodeFacts> facts_for(kernel::Socket& socket, const std::vector<api::PublishedConfig>& configs,
                                         const std::string& node, const NodeSettings& settings,
                                         const state::Observation& seen);

}  // namespace agent
