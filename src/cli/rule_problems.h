#pragma once

#include <vector>

#include "cli/problem.h"

namespace cli {

// What is told already, so that one cause does not show twice.
struct Told {
  bool agents = false;
  bool nodes = false;
};

// What the conditions of IPRules say, and the nodes that it concerns; kinds that are missing as well.
std::vector<Problem> rule_problems(const ClusterFacts& facts, const Told& told);

// The controller has not looked at what it says now, or nodes are being told.
bool is_under_way(const api::IPRule& rule);

}  // namespace cli
