#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/endpoint_slice.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node.h"
#include "api/service.h"
#include "meta/labels.h"
#include "net/address.h"
#include "net/prefix.h"

namespace intent {

// What the controller knows at one instant. The pointers are the caller's; order means nothing.
struct ClusterView {
  std::span<const api::IPRule* const> rules;
  std::span<const api::Service* const> services;
  std::span<const api::Node* const> nodes;
  std::span<const api::EndpointSlice* const> slices = {};  // For the modes Endpoints and LocalEndpoints.
  std::uint32_t default_priority = api::kDefaultPriority;
};

// The priority in force where an object names one or not (0). A VRF's rule must stand before the kernel's own at 1000.
std::uint32_t effective_priority(std::uint32_t priority, bool is_vrf, std::uint32_t default_priority);

// What one published object says. Two of them that differ in anything are two objects; `priority` is the effective one.
struct Tuple {
  api::SourceMode mode = api::SourceMode::cluster_ip;
  net::Address source;  // For reply: the load balancer address. For endpoints: the Service's own.
  std::uint32_t priority = 0;
  std::uint32_t table = 0;  // 0 where the VRF says it.
  std::string vrf;
  meta::Labels node_selector;
  bool prefer_main = true;  // Counts for reply only.
  std::string group;        // For endpoints: the Service and target they belong to, by a short name.
  std::uint32_t shard = 0;  // And which part of them.

  auto operator<=>(const Tuple&) const = default;
};

struct DesiredConfig {
  Tuple tuple;
  bool is_priority_given = false;             // By the winner; else the object says 0 and agents fill in the default.
  std::vector<const api::IPRule*> owners;     // The winner first, then by name.
  std::vector<const api::Service*> services;  // By name.
  std::vector<net::Address> vips;             // In order.
  std::vector<api::IPRuleConfig::SourceIP> sources;  // For endpoints.
};

// An address inside an IPRule's prefixes that another IPRule steers.
struct Shadowing {
  net::Address vip;
  const api::Service* service = nullptr;
  const api::IPRule* winner = nullptr;
  net::Prefix prefix;  // Of the winner.
};

// What became of one IPRule in this pass.
struct RuleOutcome {
  static constexpr std::size_t kShadowingsKept = 3;

  const api::IPRule* rule = nullptr;
  api::Acceptance acceptance;
  std::int32_t matched_services = 0;   // With an address inside the prefixes, whoever steers it.
  std::int32_t matched_vips = 0;       // Steered by this rule.
  std::int32_t shadowed_vips = 0;      // Inside the prefixes, but a more specific rule steers them.
  std::int32_t configs = 0;            // Owned.
  std::vector<Shadowing> shadowings;   // The first of the shadowed addresses, for people.
  std::vector<std::string> conflicts;  // One sentence for each tuple that had to give way.
};

// What a Service's author should hear.
struct ServiceFinding {
  enum class Reason { no_cluster_ip, hostname_only_ingress, family_mismatch, priority_conflict, proxied_address };
  const api::Service* service = nullptr;
  Reason reason = Reason::no_cluster_ip;
  std::string message;
};

struct Desired {
  std::vector<DesiredConfig> configs;    // By source, priority, table.
  std::vector<RuleOutcome> rules;        // By name.
  std::vector<ServiceFinding> findings;  // By Service, then reason.
};

// The set of objects that should exist. Pure: equal input in any order gives equal output.
Desired desired_configs(const ClusterView& view);

}  // namespace intent
