#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster_objects.h"
#include "intent/cluster/desired.h"

namespace cli {

// One steering of a Service: who asks for it, what it says, what became of it.
struct Steering {
  const intent::DesiredConfig* desired = nullptr;
  const api::IPRule* rule = nullptr;
  const api::IPRuleConfig* published = nullptr;  // nullptr: not yet.
  std::size_t reported = 0;                      // Nodes that say they hold it,
  std::size_t nodes = 0;                         // of so many that it selects and that say anything.
  const meta::Condition* effective = nullptr;    // What the controller makes of the nodes' facts; none yet.
  bool supposed = false;                         // It would be published; what nodes make of it nobody can know.

  // As far as objects and reports tell.
  bool is_well() const;
};

// What a cluster's objects say of the steering of its Services. The objects must outlive it.
class Steerings {
 public:
  explicit Steerings(const ClusterObjects& objects);

  std::vector<Steering> of(const api::Service& service) const;
  std::vector<std::string> warnings(const api::Service& service) const;  // What its author should hear.
  // Which prefix of the rule has the address, and who else has it in a prefix: "203.0.113.0/24 is the longest match,
  // over 203.0.0.0/16 of IPRule/wide". Empty where nobody else has.
  std::string match_text(const api::IPRule& rule, const net::Address& vip) const;

 private:
  const ClusterObjects& objects_;
  intent::Desired desired_;
  std::vector<const api::IPRuleConfig*> published_;  // For each of `desired_`.
};

// The code of a condition that says why packets cannot meet a rule; empty where there is no page for it.
std::string_view code_of(const meta::Condition& effective);

// Nothing steers it, all is as wanted, or not.
enum class Steered { by_nothing, as_wanted, otherwise };
Steered sum_of(const std::vector<Steering>& steerings);

}  // namespace cli
