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
#include "net/prefix.h"

namespace api {

// Which source address the replies of a Service carry where the node chooses their route.
enum class SourceMode : std::uint8_t { cluster_ip, load_balancer_ip, endpoints, local_endpoints, reply };

constexpr std::array<std::string_view, 5> names(SourceMode) {
  return {"ClusterIP", "LoadBalancerIP", "Endpoints", "LocalEndpoints", "Reply"};
}
constexpr std::string_view text(SourceMode mode) {
  return names(mode)[static_cast<std::size_t>(mode)];
}

// What the administrator writes: load balancer addresses in these prefixes are steered into this table.
struct IPRule {
  static constexpr std::string_view kKind = "IPRule";
  static constexpr std::string_view kPlural = "iprules";
  static constexpr bool kSpecRequired = true;

  struct Source {
    std::vector<SourceMode> modes;
    std::optional<bool> prefer_main;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("modes", self.modes);
      visit("preferMain", self.prefer_main);
    }
    bool operator==(const Source&) const = default;
  };

  struct Spec {
    std::vector<std::string> cidrs;
    std::string cidr;         // As the first generation wrote it; counts beside `cidrs`.
    std::uint32_t table = 0;  // 0: unset.
    std::uint32_t priority = 0;
    meta::Labels node_selector;
    Source source;
    std::string vrf;
    std::string node_selector_label;  // Without effect.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("cidrs", self.cidrs);
      visit("cidr", self.cidr);
      visit("table", self.table);
      visit("priority", self.priority);
      visit("nodeSelector", self.node_selector);
      visit("source", self.source);
      visit("vrf", self.vrf);
      visit("nodeSelectorLabel", self.node_selector_label);
    }
    bool operator==(const Spec&) const = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;
    std::vector<std::string> cidrs;
    std::int32_t matched_services = 0;
    std::int32_t matched_vips = 0;
    std::int32_t shadowed_vips = 0;
    std::int32_t configs = 0;
    std::string dataplane;
    std::vector<meta::Condition> conditions;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("observedGeneration", self.observed_generation);
      visit("cidrs", self.cidrs);
      visit.always("matchedServices", self.matched_services);
      visit.always("matchedVIPs", self.matched_vips);
      visit.always("shadowedVIPs", self.shadowed_vips);
      visit.always("configs", self.configs);
      visit("dataplane", self.dataplane);
      visit("conditions", self.conditions);
    }
    bool operator==(const Status&) const = default;
  };

  meta::Meta meta;
  Spec spec;
  Status status;

  std::vector<SourceMode> modes() const;  // The default where none is given.
  bool operator==(const IPRule&) const = default;
};

base::Result<IPRule> decode_iprule(const json::Value& object);
std::string encode(const IPRule& rule);  // Whole, status included.

// What can be used of an IPRule, and what to tell its author. Admission lets wrong prefixes through, as the old project
// did; what is right in the same list still counts.
struct Acceptance {
  std::vector<net::Prefix> prefixes;  // Canonical, each once, in order; empty where nothing can be used.
  std::string reason;                 // Valid, PartiallyInvalid, InvalidCIDR, NoCIDR, TableUnset.
  std::string message;

  bool accepted() const { return !prefixes.empty(); }
};

Acceptance accept(const IPRule& rule);

}  // namespace api
