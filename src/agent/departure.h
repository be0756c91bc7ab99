#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "base/result.h"
#include "meta/labels.h"

namespace agent {

// What an agent that was told to stop has read about its place in the cluster. Whatever could not be read is unknown,
// and from that nothing follows.
struct Circumstances {
  std::optional<std::vector<api::Agent>> agents{};  // By a list made now.
  bool kind_is_gone = false;                        // By discovery's own word.
  bool saw_deletion = false;                        // The watch delivered the end of the Agent that counted.
  std::optional<meta::Labels> labels{};             // Of the Node.
  std::string home{};  // Where the Agent that counts is looked for first, of those not told that another one does.
};

// Why the node's rules are to go with its agent; nothing: they stay. A stop is harmless (roll-out, eviction, reboot,
// crash) unless somebody ordered the removal: no Agent counts any more, or it does not select this node.
std::optional<std::string> reason_to_purge(const Circumstances& circumstances);

}  // namespace agent
