#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "json/reader.h"
#include "state/node_facts.h"

namespace cli {

// What a cluster's API tells before anything of ours is installed. It is about what was set up, not about what a kernel
// does: good for "likely", no more.
struct ClusterSetup {
  std::size_t nodes = 0;
  std::set<std::string> kernels;                  // As nodes' kubelets say.
  std::map<std::string, std::string> daemonsets;  // Of service proxies and networks that we know; name to name space.
  std::string proxy_config;                       // Of ConfigMap kube-system/kube-proxy; empty: there is none.
  std::size_t services = 0;
  std::size_t with_address = 0;  // Of them, those with an address of a load balancer.
  bool is_installed = false;     // Our kinds are served.
  std::vector<std::string> gaps;
};

// From lists of Nodes, DaemonSets and Services as the API server gives them.
base::Status add_nodes(ClusterSetup& setup, const json::Value& list);
base::Status add_daemonsets(ClusterSetup& setup, const json::Value& list);
base::Status add_services(ClusterSetup& setup, const json::Value& list);

// Who likely translates Service addresses there, and by what sign.
struct LikelyProxy {
  state::ServiceProxy proxy = state::ServiceProxy::unknown;
  std::string sign;
};
LikelyProxy likely_proxy(const ClusterSetup& setup);

Answer show_preflight(const ClusterSetup& setup);

}  // namespace cli
