#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

// The programs that ours are measured beside.
namespace bench {

struct PeerProgram {
  std::string name;
  std::vector<std::string> command;
};

// The built program of bench/peer.
base::Result<std::string> peer_program();

// A controller that does the same work: the one at PEER_MANAGER, or bench/peer's own on controller-runtime.
base::Result<PeerProgram> peer_controller();
// The agent at PEER_AGENT, if one is given.
std::optional<PeerProgram> peer_agent();

}  // namespace bench
