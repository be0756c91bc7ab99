#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "plan/plan.h"

namespace cli {

// What a plan is told with.
struct PlanStory {
  std::string title;                 // "worker-1, kernel read now"
  std::string_view kind = "Plan";    // Of the document for programs, and of the last line.
  std::vector<std::string> skipped;  // Objects that are not programmed as they say, and why.
  std::string doubt;                 // Why the kernel could not be seen whole; that beats everything else.
};

// The kernel's lines in the order of execution, what stands in the way, and the sum. Changes are worth attention.
Answer show_plan(const plan::Plan& plan, const PlanStory& story);

}  // namespace cli
