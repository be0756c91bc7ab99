#pragma once

#include <optional>
#include <string>

#include "agent/node_compiler.h"
#include "agent/node_loop.h"
#include "api/node.h"
#include "api/published_config.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace agent {

// What the API server has published for this node. Follows it from construction on; `changed` is raised when there is
// something new. While the server is away, the last that was known stays.
class ClusterSource {
 public:
  ClusterSource(kube::Client& client, const std::string& node, runtime::Signal& changed);

  // For the thread of the loop. Nothing until every list it needs has been seen whole.
  std::optional<Wanted> latest();

 private:
  NodeCompiler compiler_;
  kube::Reflector<api::PublishedConfig> configs_;
  kube::Reflector<api::Node> node_;  // This one only, for its labels.
};

}  // namespace agent
