#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/preview.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/diff_view.h"
#include "cli/finding.h"
#include "json/writer.h"
#include "net/address.h"
#include "plan/plan.h"

namespace cli {

// What a plan is told with.
struct PlanStory {
  std::string title;                            // "worker-1, kernel read now"
  std::string_view kind = "Plan";               // Of the document for programs, and of the last line.
  std::vector<std::string> skipped;             // Objects that are not programmed as they say, and why.
  std::string doubt;                            // Why the kernel could not be seen whole; that beats everything else.
  std::vector<Finding> findings{};              // What else somebody should know before it is done.
  std::vector<std::string> unknown{};           // What nobody has looked at.
  DiffView view{};                              // What of it to tell.
  std::vector<agent::ForeignRule> foreign{};    // Told where `view` wants that.
  std::optional<std::set<net::Address>> own{};  // Addresses of nodes, where it is to be said that these are spared.
  bool with_sum = true;                         // In words; programs always find it.
};

// The kernel's lines in the order of execution, what stands in the way, and the sum. Changes are worth attention, and
// so are objects that come to nothing because they are wrong.
Answer show_plan(const plan::Plan& plan, const PlanStory& story);

// How much a plan is.
struct PlanSum {
  std::size_t added = 0;
  std::size_t changed = 0;
  std::size_t removed = 0;
  std::size_t warnings = 0;

  bool is_nothing() const { return added + changed + removed == 0; }
  bool operator==(const PlanSum&) const = default;
};
std::string text(const PlanSum& sum);             // "5 to add, 0 to change, 1 to delete"
std::string warnings_text(std::size_t warnings);  // "; 2 warnings", nothing where there are none.
// From the document of a plan, as another host may have made it.
base::Result<PlanSum> sum_in(std::string_view document);

void put(Page& page, const Finding& finding);         // "  ! IPRule/a: what  IPR0102"
void put(json::Object& out, const Finding& finding);  // As one of the warnings of a plan.

}  // namespace cli
