#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/reader.h"
#include "meta/time.h"

namespace cli {

// Of the controllers' Deployment and pods, in whatever name space they were installed.
inline constexpr const char* kControllerLabels =
    "app.kubernetes.io/name=ip-rule-operator,control-plane=controller-manager";

// The controllers' Lease, there as well.
inline constexpr const char* kControllerLease = "fed43742.brtrm.dev";

// A leader renews its Lease every few seconds. This long without is no leader, even where clocks differ.
inline constexpr std::chrono::minutes kLeaderSilence{2};

// The controllers' Deployment.
struct ControllerSet {
  std::string ns;
  std::string name;
  std::string version;  // By its image's tag; empty where that tells none.
  std::int32_t wanted = 0;
  std::int32_t ready = 0;
  bool elects = false;  // By a Lease: without, one controller works and none is seen to lead.

  bool operator==(const ControllerSet&) const = default;
};

base::Result<ControllerSet> decode_controller_set(const json::Value& deployment);

// Who leads the controllers, by their Lease.
struct Leader {
  std::string holder;  // Empty: released.
  meta::Time renewed{};
};

// Whoever publishes, as far as it could be asked.
struct ControllerFacts {
  std::optional<std::vector<ControllerSet>> sets;  // Nothing: Deployments could not be listed.
  bool is_lease_known = false;
  std::optional<Leader> leader;   // None: there is no Lease.
  std::vector<std::string> gaps;  // What could not be asked, and why.

  bool is_known() const { return sets.has_value() && is_lease_known; }
  // Nobody has ever installed one.
  bool is_absent() const { return is_known() && sets->empty() && !leader; }
  std::int32_t wanted() const;
  std::int32_t ready() const;
};

// Why nothing is published at present; nothing where somebody does it, or where it cannot be told.
std::optional<std::string> why_nobody_publishes(const ControllerFacts& facts, meta::Time now);

}  // namespace cli
