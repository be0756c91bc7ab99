#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "state/net_state.h"

namespace plan {

struct AddRule {
  state::Rule rule{};
  bool exclusive = true;  // Let the kernel refuse a copy. Costs a comparison with every rule there is.
  bool operator==(const AddRule&) const = default;
};

struct RemoveRule {
  state::Rule rule{};
  bool operator==(const RemoveRule&) const = default;
};

struct RemoveOpaqueRule {
  state::OpaqueRule rule{};
  bool operator==(const RemoveOpaqueRule&) const = default;
};

using Op = std::variant<AddRule, RemoveRule, RemoveOpaqueRule>;

// Ours and a foreign rule are about the same packets at the same priority. The foreign one stays, ours is placed beside
// it, and the older of the two decides: somebody has to choose another priority.
struct Clash {
  state::Rule desired{};
  state::Rule foreign{};
  bool operator==(const Clash&) const = default;
};

// A desired object that cannot be: it is left out and delays nobody.
struct Refusal {
  state::Rule desired{};
  base::Error reason;
};

// What to do, in this order. Every prefix of it keeps each lookup on which the states before and after agree.
struct Plan {
  std::vector<Op> ops{};
  std::vector<Clash> clashes{};
  std::vector<Refusal> refused{};

  bool empty() const { return ops.empty(); }
};

// "add IPv4 rule 500: from 10.0.0.7 lookup 100 proto 183"
std::string text(const Op& op);
// One line per operation, clash and refusal.
std::string text(const Plan& plan);

}  // namespace plan
