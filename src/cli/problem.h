#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/status.h"
#include "meta/time.h"

namespace cli {

// One cause of trouble, with all that it hits.
struct Problem {
  std::string code{};  // Of docs/findings; empty where there is none.
  std::string reason{};
  std::set<std::string> messages{};  // One cause may be told in several, each with its own object.
  std::set<std::string> objects{};   // "IPRule/public-eu"
  std::optional<meta::Time> since{};
  std::set<std::string> nodes{};  // Empty: not a matter of nodes.
  std::string next{};             // The command that tells more, or cures.
};

// Problems by cause: the same one again adds its object, its node, and its beginning where that was earlier.
class Causes {
 public:
  void add(const std::string& cause, Problem problem);
  std::vector<Problem> take() &&;

 private:
  std::map<std::string, Problem> by_cause_;
};

// What is wrong with the components first, then with the job; there those with the most nodes first.
std::vector<Problem> problems_in(const ClusterFacts& facts, meta::Time now);

std::string what_text(const Problem& problem);               // "VRFNotFound: no device red (and 2 other messages)"
std::string object_text(const Problem& problem);             // "IPRuleConfig/iprc-1 and 99 more"
std::string nodes_text(const std::set<std::string>& nodes);  // "worker-3", "worker-1, worker-2", "412 nodes"

}  // namespace cli
