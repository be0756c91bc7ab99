#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/reader.h"
#include "meta/condition.h"
#include "meta/meta.h"

namespace api {

enum class Sync : std::uint8_t { unknown, in_sync, applying, failing };
constexpr std::array<std::string_view, 4> names(Sync) {
  return {"", "InSync", "Applying", "Failing"};
}

enum class ServiceProxy : std::uint8_t { unknown, nftables, iptables, ipvs, none };
constexpr std::array<std::string_view, 5> names(ServiceProxy) {
  return {"", "nftables", "iptables", "ipvs", "none"};
}

enum class IPFamily : std::uint8_t { v4, v6 };
constexpr std::array<std::string_view, 2> names(IPFamily) {
  return {"IPv4", "IPv6"};
}

// How a node programs its sources.
enum class Backend : std::uint8_t { unknown, rules, marks };
constexpr std::array<std::string_view, 3> names(Backend) {
  return {"", "rules", "marks"};
}

// What a node holds. (Not inside NodeState: clang cannot put a class into an optional before its surroundings are
// complete.)
struct NodeCounts {
  std::int32_t rules = 0;
  std::int32_t routes = 0;
  std::int32_t sources = 0;
  std::int32_t failures = 0;
  std::int32_t clashes = 0;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.always("rules", self.rules);
    visit.always("routes", self.routes);
    visit.always("sources", self.sources);
    visit.always("failures", self.failures);
    visit.always("clashes", self.clashes);
  }
  bool operator==(const NodeCounts&) const = default;
};

// The report of one node, named like the Node. The controller writes the spec, that node's agent alone the status.
struct NodeState {
  static constexpr std::string_view kKind = "NodeState";
  static constexpr std::string_view kPlural = "nodestates";
  static constexpr bool kSpecRequired = false;
  static constexpr std::size_t kMaxFailed = 100;
  static constexpr std::size_t kMaxTables = 100;
  static constexpr std::size_t kMaxDevices = 64;
  static constexpr std::size_t kMaxDrift = 20;
  using Counts = NodeCounts;

  struct Spec {
    std::string token;  // A report counts only while it repeats this.
    std::vector<std::string> cluster_prefixes;
    std::int32_t nodes = 0;  // About; 0: unknown.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("token", self.token);
      visit("clusterPrefixes", self.cluster_prefixes);
      visit("nodes", self.nodes);
    }
    bool operator==(const Spec&) const = default;
  };

  struct Failed {
    std::string uid;
    std::string name;
    std::int64_t generation = 0;
    std::string reason;
    std::string message;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("uid", self.uid);
      visit("name", self.name);
      visit("generation", self.generation);
      visit("reason", self.reason);
      visit("message", self.message);
    }
    bool operator==(const Failed&) const = default;
  };

  // "Every object of this kind up to this epoch is settled here, except those listed as failed."
  struct Settled {
    std::string kind;
    std::int64_t epoch = 0;
    std::int32_t failed_count = 0;
    std::vector<Failed> failed;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("kind", self.kind);
      visit.required("epoch", self.epoch);
      visit("failedCount", self.failed_count);
      visit("failed", self.failed);
    }
    bool operator==(const Settled&) const = default;
  };

  struct EmptyTable {
    std::uint32_t table = 0;
    IPFamily family = IPFamily::v4;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("table", self.table);
      visit.required("family", self.family);
    }
    bool operator==(const EmptyTable&) const = default;
  };

  // Something of ours that others changed, or have another one of beside it.
  struct Drifted {
    std::string object;        // "IPv4 rule 1000: from 10.96.23.17 lookup 100"
    std::string wanted;        // "present"
    std::string found;         // "missing"
    std::string likely;        // Who did it, as far as traces tell; often nobody can say.
    std::int32_t repairs = 0;  // How often the agent put it right; 0: it is another's, and left alone.
    meta::Time repaired{};     // When it did so last,
    std::int32_t took_ms = 0;  // and how long that took.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("object", self.object);
      visit("wanted", self.wanted);
      visit("found", self.found);
      visit("likely", self.likely);
      visit("repairs", self.repairs);
      visit("repaired", self.repaired);
      visit("tookMilliseconds", self.took_ms);
    }
    bool operator==(const Drifted&) const = default;
  };

  struct ReversePathFilter {
    std::string device;
    std::int32_t value = 0;
    std::vector<std::uint32_t> tables;  // Whose IPv4 routes lead out by it.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("device", self.device);
      visit.required("value", self.value);
      visit("tables", self.tables);
    }
    bool operator==(const ReversePathFilter&) const = default;
  };

  // A VRF device whose table something of ours looks up.
  struct Vrf {
    std::string device;
    std::uint32_t table = 0;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("device", self.device);
      visit.required("table", self.table);
    }
    bool operator==(const Vrf&) const = default;
  };

  // What the kernel was seen to do; nothing where it could not be tried.
  struct Capabilities {
    std::optional<bool> rule_protocol;
    std::optional<bool> nexthop_objects;
    std::optional<bool> address_protocol;
    std::optional<bool> nft_maps;
    std::optional<bool> ct_original;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("ruleProtocol", self.rule_protocol);
      visit("nexthopObjects", self.nexthop_objects);
      visit("addressProtocol", self.address_protocol);
      visit("nftMaps", self.nft_maps);
      visit("ctOriginal", self.ct_original);
    }
    bool operator==(const Capabilities&) const = default;
  };

  struct Facts {
    std::string kernel;
    ServiceProxy service_proxy = ServiceProxy::unknown;
    std::optional<bool> conntrack;
    std::optional<std::int64_t> local_rule_priority;
    std::vector<ReversePathFilter> reverse_path_filter;
    std::vector<Vrf> vrfs;
    Capabilities capabilities;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("kernel", self.kernel);
      visit("serviceProxy", self.service_proxy);
      visit("conntrack", self.conntrack);
      visit("localRulePriority", self.local_rule_priority);
      visit("reversePathFilter", self.reverse_path_filter);
      visit("vrfs", self.vrfs);
      visit("capabilities", self.capabilities);
    }
    bool operator==(const Facts&) const = default;
  };

  struct Status {
    std::string token;
    std::string boot_id;
    std::string version;
    Sync sync = Sync::unknown;
    meta::Time changed{};
    bool holds_nothing = false;
    Backend dataplane = Backend::unknown;
    std::vector<Settled> settled;
    std::optional<Counts> counts;
    std::vector<EmptyTable> empty_tables;
    std::vector<Drifted> drift;
    Facts facts;
    std::vector<meta::Condition> conditions;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("token", self.token);
      visit("bootID", self.boot_id);
      visit("version", self.version);
      visit("sync", self.sync);
      visit("changed", self.changed);
      visit("holdsNothing", self.holds_nothing);
      visit("dataplane", self.dataplane);
      visit("settled", self.settled);
      visit("counts", self.counts);
      visit("emptyTables", self.empty_tables);
      visit("drift", self.drift);
      visit("facts", self.facts);
      visit("conditions", self.conditions);
    }
    bool operator==(const Status&) const = default;
  };

  meta::Meta meta;
  Spec spec;
  Status status;

  bool operator==(const NodeState&) const = default;
};

base::Result<NodeState> decode_node_state(const json::Value& object);
std::string encode(const NodeState& state);  // Whole, status included.
std::string encode(const NodeState::Status& status);

}  // namespace api
