#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/cluster_source.h"
#include "agent/freshness.h"
#include "agent/node_loop.h"
#include "api/node_state.h"
#include "base/clock.h"
#include "intent/node/report.h"

namespace agent {

// What a node has to say of itself after a look at the kernel, in the words of its report.
struct Findings {
  api::NodeState::Status found{};  // Without times and numbers.
  intent::Progress progress{};

  // The report object that it is for, as last seen.
  std::string uid{};
  std::string token{};
  std::uint64_t version = 0;
  api::NodeState::Status stored{};
  base::Duration turn{};  // So long after it was found: not all nodes report at one instant.
};

// What does not change while an agent runs.
struct NodeIdentity {
  std::string boot_id;
  std::string kernel;
  std::string version;  // The agent's.

  static NodeIdentity of_this_node();
};

// Nothing where there is nothing to answer to (no report object, or the objects were not listed under its token yet),
// or where the look was disturbed and proves nothing: the next one will. `doubt`: why what was published may be other
// than what the kernel was compared with.
std::optional<Findings> findings(const ClusterSource::Basis& basis, const Looked& looked, const NodeIdentity& identity,
                                 const std::optional<Doubt>& doubt = {});

// Of an agent that leaves this kernel alone: nothing was looked at, and nothing is acknowledged.
std::optional<Findings> standing_still(const ClusterSource::Basis& basis, const NodeIdentity& identity,
                                       const Doubt& reason);

// The last word of an agent that has taken all of its own out of the kernel: the node holds nothing, and nothing more
// is acknowledged, for what is published is not here.
std::optional<Findings> farewell(const ClusterSource::Basis& basis, const NodeIdentity& identity);

}  // namespace agent
