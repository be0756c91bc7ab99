#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/quantities.h"
#include "base/result.h"
#include "json/reader.h"
#include "meta/condition.h"
#include "meta/meta.h"

namespace api {

enum class Dataplane : std::uint8_t { automatic, rules, marks };
constexpr std::array<std::string_view, 3> names(Dataplane) {
  return {"auto", "rules", "marks"};
}

enum class ForeignPolicy : std::uint8_t { ignore, report, prune };
constexpr std::array<std::string_view, 3> names(ForeignPolicy) {
  return {"Ignore", "Report", "Prune"};
}

enum class LogLevel : std::uint8_t { info, debug, warning, error };
constexpr std::array<std::string_view, 4> names(LogLevel) {
  return {"info", "debug", "warning", "error"};
}

struct Toleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;
  std::optional<std::int64_t> seconds;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("key", self.key);
    visit("operator", self.op);
    visit("value", self.value);
    visit("effect", self.effect);
    visit("tolerationSeconds", self.seconds);
  }
  auto operator<=>(const Toleration&) const = default;
};

struct Resources {
  Quantities requests;
  Quantities limits;

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit("requests", self.requests);
    visit("limits", self.limits);
  }
  bool operator==(const Resources&) const = default;
};

// How the agents run; the controller keeps one DaemonSet for the active Agent.
struct Agent {
  static constexpr std::string_view kKind = "Agent";
  static constexpr std::string_view kPlural = "agents";
  static constexpr bool kSpecRequired = false;

  struct PriorityRange {
    std::optional<std::uint32_t> min;  // 1 where none is given.
    std::optional<std::uint32_t> max;  // 32765 where none is given: what stands before `main`.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("min", self.min);
      visit("max", self.max);
    }
    bool operator==(const PriorityRange&) const = default;
  };

  struct ForeignRules {
    ForeignPolicy policy = ForeignPolicy::ignore;
    std::vector<std::uint32_t> tables;
    PriorityRange priority_range;
    std::vector<std::string> sources;
    bool include_qualified = false;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("policy", self.policy);
      visit("tables", self.tables);
      visit("priorityRange", self.priority_range);
      visit("sources", self.sources);
      visit("includeQualified", self.include_qualified);
    }
    bool operator==(const ForeignRules&) const = default;
  };

  struct Spec {
    std::string image;
    meta::Labels node_selector;
    std::vector<Toleration> tolerations;
    std::string reconcile_period;  // As written; see reconcile_period() below.
    std::string absent_timeout;
    std::uint32_t default_priority = 0;  // 0: the default.
    Dataplane dataplane = Dataplane::automatic;
    std::vector<std::string> cluster_cidrs;
    std::string metrics_bind_address;
    ForeignRules foreign_rules;
    Resources resources;
    std::string priority_class_name;
    LogLevel log_level = LogLevel::info;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("image", self.image);
      visit("nodeSelector", self.node_selector);
      visit("tolerations", self.tolerations);
      visit("reconcilePeriod", self.reconcile_period);
      visit("absentTimeout", self.absent_timeout);
      visit("defaultPriority", self.default_priority);
      visit("dataplane", self.dataplane);
      visit("clusterCIDRs", self.cluster_cidrs);
      visit("metricsBindAddress", self.metrics_bind_address);
      visit("foreignRules", self.foreign_rules);
      visit("resources", self.resources);
      visit("priorityClassName", self.priority_class_name);
      visit("logLevel", self.log_level);
    }
    bool operator==(const Spec&) const = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;
    std::int32_t desired = 0;
    std::int32_t current = 0;
    std::int32_t ready = 0;
    std::vector<meta::Condition> conditions;

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit("observedGeneration", self.observed_generation);
      visit.always("desiredNumberScheduled", self.desired);
      visit.always("currentNumberScheduled", self.current);
      visit.always("numberReady", self.ready);
      visit("conditions", self.conditions);
    }
    bool operator==(const Status&) const = default;
  };

  meta::Meta meta;
  Spec spec;
  Status status;

  bool operator==(const Agent&) const = default;
};

inline constexpr std::uint32_t kDefaultPriority = 32765;  // What a pristine host would pick: just before `main`.

base::Result<Agent> decode_agent(const json::Value& object);
std::string encode(const Agent& agent);  // Whole, status included.

// The settings in force. Text that cannot be read (from a time before the schema had bounds) counts as not given.
std::chrono::nanoseconds reconcile_period(const Agent::Spec& spec);  // 1 s to 1 h, default 10 s.
std::chrono::nanoseconds absent_timeout(const Agent::Spec& spec);    // 1 s to 24 h, default 10 min.
std::uint32_t default_priority(const Agent::Spec& spec);

}  // namespace api
