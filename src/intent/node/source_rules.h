#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "api/kinds.h"
#include "api/published_config.h"
#include "base/clock.h"
#include "dataplane/steering.h"
#include "meta/labels.h"
#include "net/address.h"
#include "net/prefix.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace intent {

// What an agent knows of its node and of the published objects at one instant. Order means nothing.
struct NodeView {
  std::span<const api::PublishedConfig* const> configs;
  std::string_view node;
  meta::Labels labels;
  std::vector<net::Address> addresses;    // The node's own, as the cluster knows them; facts has what the kernel shows.
  std::vector<net::Address> api_servers;  // Where the node asks the API server, as far as it is known by address.
  std::set<net::Prefix> cluster_prefixes;  // Pods and nodes: replies to them are not steered.
  state::NodeFacts facts;
  dataplane::Mode dataplane = dataplane::Mode::automatic;
  std::uint32_t default_priority = api::kDefaultPriority;
  std::uint8_t protocol = api::kRuleProtocol;
  base::TimePoint now;
};

// "Packets from this address look up this table at this priority", or replies of connections to it, and which object
// says so.
struct Claim {
  enum class Kind : std::uint8_t { source, reply };

  std::string uid;
  Kind kind = Kind::source;
  net::Address source;  // Or the VIP.
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  bool prefer_main = false;  // Of a reply.

  auto operator<=>(const Claim&) const = default;
};

// Why an object, or one address of it, is not programmed as it says. The others are not affected.
struct Refusal {
  enum class Reason {
    untrusted,         // Without the controller's hash, or without an IPRule behind it: nothing new is programmed.
    hash_mismatch,     // Changed by somebody: what was applied last stays until the controller has repaired it.
    table_unset,       // 0 is no table.
    bad_address,       // Cannot be read.
    vrf_not_found,     // No such device on this node.
    protected_source,  // Traffic that the node itself lives on would follow the rule: its own, its gateways'.
    no_nftables,       // The kernel lacks what a reply needs.
    no_free_mark,      // All marks are taken.
    priority_too_low,  // There is no place before it for the look at `main`.
    too_many_rules,    // More than a node is given.
    waiting,           // An older object has this source and priority for another table and is not yet withdrawn.
    invalid,           // The kernel would refuse the rule.
  };
  const api::PublishedConfig* config = nullptr;
  Reason reason = Reason::untrusted;
  std::string message;
};

std::string_view text(Refusal::Reason reason);  // As in conditions: "Untrusted", "VRFNotFound".

// What people should know although the rule is programmed.
struct Warning {
  enum class Reason { reserved_table, priority_before_local, priority_after_vrf, priority_after_main };
  const api::PublishedConfig* config = nullptr;
  Reason reason = Reason::reserved_table;
  std::string message;
};

// What one pass leaves for the next.
struct NodeMemory {
  std::vector<Claim> claims{};  // What each object got, in order.
  dataplane::Marks marks{};     // Who holds which mark; `in_use` is the kernel's word.
  dataplane::Decision decision{};

  bool operator==(const NodeMemory&) const = default;
};

struct NodeIntent {
  state::NetState desired;
  std::vector<Refusal> refusals;             // By name.
  std::vector<Warning> warnings;             // By name.
  std::vector<dataplane::Finding> findings;  // What the steering itself has to say.
  NodeMemory memory;
  std::optional<base::TimePoint> look_again;  // When the back end may change.
};

// The bits of a packet's mark that are ours on such a node.
std::uint32_t mark_window(const state::NodeFacts& facts);

// What this node's network should be. Pure: the same objects in any order, with the same memory, give the same result.
// Objects that are withdrawn, or not for this node, say nothing.
NodeIntent compile(const NodeView& view, const NodeMemory& last);

}  // namespace intent
