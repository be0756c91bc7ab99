#pragma once

#include <optional>
#include <string>

#include "agent/node_loop.h"
#include "api/iprule_config.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace agent {

// What the API server has published for this node. Follows it from construction on; `changed` is raised when there is
// something new. While the server is away, the last that was known stays.
class ClusterSource {
 public:
  ClusterSource(kube::Client& client, std::string node, runtime::Signal& changed);

  std::optional<Wanted> latest() const;

 private:
  std::string node_;
  kube::Reflector<api::IPRuleConfig> configs_;
};

}  // namespace agent
