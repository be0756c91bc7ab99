#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fitting.h"
#include "api/iprule.h"
#include "api/kinds.h"
#include "base/result.h"
#include "json/reader.h"
#include "meta/condition.h"
#include "meta/meta.h"

namespace api {

enum class ConfigState : std::uint8_t { present, absent };

constexpr std::array<std::string_view, 2> names(ConfigState) {
  return {"present", "absent"};
}
constexpr std::string_view text(ConfigState state) {
  return names(state)[static_cast<std::size_t>(state)];
}

// One rule that every selected node keeps in its kernel; made by the controller, read by the agents. Address, table and
// priority of an object never change: another rule is another object.
struct IPRuleConfig {
  static constexpr std::string_view kKind = "IPRuleConfig";
  static constexpr std::string_view kPlural = "ipruleconfigs";
  static constexpr bool kSpecRequired = true;

  struct SourceIP {
    std::string address;
    std::string node_name;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("address", self.address);
      visit("nodeName", self.node_name);
    }
    auto operator<=>(const SourceIP&) const = default;
  };

  struct Spec {
    std::string service_ip;
    std::uint32_t table = 0;
    std::uint32_t priority = 0;
    ConfigState state = ConfigState::present;
    meta::Labels node_selector;
    std::string vrf;
    std::uint32_t route_table = 0;
    SourceMode source_mode = SourceMode::cluster_ip;
    std::optional<bool> prefer_main;
    std::vector<SourceIP> source_ips;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("serviceIP", self.service_ip);
      // Out of range they are numbers that nobody asks for; so no node obeys it, for its hash does not fit.
      visit.required("table", fitting(self.table, std::numeric_limits<std::uint32_t>::max()));
      visit("priority", fitting(self.priority, std::numeric_limits<std::uint32_t>::max()));
      visit.required("state", self.state);
      visit("nodeSelector", self.node_selector);
      visit("vrf", self.vrf);
      visit("routeTable", self.route_table);
      visit("sourceMode", self.source_mode);
      visit("preferMain", self.prefer_main);
      visit("sourceIPs", self.source_ips);
    }
    bool operator==(const Spec&) const = default;
  };

  struct NodeFailure {
    std::string node;
    std::string reason;
    std::string message;
    meta::Time last_transition{};

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("node", self.node);
      visit("reason", self.reason);
      visit("message", self.message);
      visit("lastTransitionTime", self.last_transition);
    }
    bool operator==(const NodeFailure&) const = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;
    std::int64_t epoch = 0;
    std::vector<NodeFailure> nodes;
    std::vector<meta::Condition> conditions;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("observedGeneration", self.observed_generation);
      visit("epoch", self.epoch);
      visit("nodes", self.nodes);
      visit("conditions", self.conditions);
    }
    bool operator==(const Status&) const = default;
  };

  meta::Meta meta;
  Spec spec;
  Status status;

  bool is_managed() const { return meta.labels.get(kManagedByLabel) == kManagedByValue; }
  bool operator==(const IPRuleConfig&) const = default;
};

// The table of a spec, 0 where it names a VRF or none at all. It stands in another field where no agent of the old
// project is to read it.
constexpr std::uint32_t table_of(const IPRuleConfig::Spec& spec) {
  return spec.table != 0 ? spec.table : spec.route_table;
}

base::Result<IPRuleConfig> decode_iprule_config(const json::Value& object);
std::string encode(const IPRuleConfig& config);  // Whole, status included.

// What the annotation `spec-hash` must say for this spec: the old project's text for what it knows, our additions
// behind it only where they are used.
std::string spec_hash(const IPRuleConfig::Spec& spec);

}  // namespace api
