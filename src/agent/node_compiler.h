#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/node_loop.h"
#include "api/agent.h"
#include "api/kinds.h"
#include "api/published_config.h"
#include "intent/node/source_rules.h"
#include "meta/labels.h"
#include "net/prefix.h"

namespace agent {

// What the cluster says of this node besides the published objects.
struct NodeSettings {
  meta::Labels labels{};
  std::uint32_t default_priority = api::kDefaultPriority;
  std::uint8_t protocol = api::kRuleProtocol;
  api::Dataplane dataplane = api::Dataplane::automatic;
  std::vector<net::Prefix> cluster_prefixes{};  // The cluster's own: replies to them are never steered.
  std::vector<net::Address> addresses{};        // The node's own, as the cluster knows them.
  std::vector<net::Address> api_servers{};      // Where it asks, where that is no name.
};

// From published objects to what this node should have. Remembers what each object got and who holds which mark, which
// the next pass needs, and logs what could not be done when that changes. For one thread.
class NodeCompiler {
 public:
  explicit NodeCompiler(std::string node) : node_(std::move(node)) {}

  // `whole`: no published object is missing from `configs` because it could not be read.
  Wanted compile(std::span<const api::PublishedConfig* const> configs, const NodeSettings& settings, bool whole,
                 const Sight& sight);

 private:
  void recall(const Sight& sight, std::uint8_t protocol);
  void tell(const intent::NodeIntent& intent);

  std::string node_;
  intent::NodeMemory memory_;
  std::uint32_t window_ = 0;  // Of the marks in it.
  bool has_looked_ = false;
  std::string told_;
};

}  // namespace agent
