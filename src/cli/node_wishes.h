#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/iprule.h"
#include "api/kinds.h"
#include "base/result.h"
#include "cli/cluster_objects.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/address.h"

namespace cli {

// An address that clients outside connect to, and what the same Service has inside the cluster.
struct Frontend {
  net::Address vip;
  std::vector<net::Address> cluster_ips{};

  bool operator==(const Frontend&) const = default;
};

// What a cluster wants of a node, as far as the node's data path decides about it. It travels with a question, because
// whoever answers on the node asks no API server.
struct NodeWishes {
  std::vector<api::IPRule> rules{};   // Those that select the node, by name, without status.
  std::vector<Frontend> frontends{};  // Those that an IPRule covers before others; a thousand at most.
  std::uint32_t default_priority = api::kDefaultPriority;
  api::Dataplane dataplane = api::Dataplane::automatic;

  bool operator==(const NodeWishes&) const = default;
};

// Without frontends, which only a look at connections needs.
NodeWishes wishes_on(const ClusterObjects& objects, const std::string& node);
std::vector<Frontend> frontends_in(const ClusterObjects& objects, const std::vector<api::IPRule>& rules);

void put(json::Object& out, const NodeWishes& wishes);
base::Result<NodeWishes> decode_wishes(const json::Value& value);

}  // namespace cli
