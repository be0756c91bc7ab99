#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/writer.h"
#include "plan/plan.h"

namespace cli {

// One line of a plan: what is done to one object of the kernel.
struct PlanLine {
  char sign = '~';                    // '+' added, '-' deleted, '~' changed.
  std::string text;                   // "IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183"
  std::optional<state::Rule> rule{};  // Where it is one.
};

// In the order of execution. A change of our nft table is a line for each object in it.
std::vector<PlanLine> lines_of(const plan::Plan& plan);

// "rule", "nft", "route", "link", ...
std::string class_of(const PlanLine& line);

// The same as fields: what is done, the object's class, and what it is known by.
void put(json::Object& out, const PlanLine& line);

}  // namespace cli
