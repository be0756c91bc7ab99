#include "agent/change_log.h"

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "plan/plan.h"

namespace agent {
namespace {

constexpr std::size_t kMostLines = 200;

struct Change {
  std::string_view done;  // "added"
  std::string_view kind;  // "rule"
  std::string what;
};

// As `ip rule add` takes it.
std::string words(const state::Rule& rule) {
  const std::string text = state::text(rule);
  return fmt::format("{} priority {}", text.substr(text.find(' ') + 1), rule.priority);
}

// Operations read "add IPv4 route ..."; what was done reads "added".
Change change(std::string_view text) {
  const auto verb_end = text.find(' ');
  const std::string_view verb = text.substr(0, verb_end);
  const bool adds = verb == "add" || verb == "create";
  const bool removes = verb == "remove" || verb == "delete";
  return {.done = adds      ? "added"
                  : removes ? "deleted"
                            : "changed",
          .kind = "what",
          .what = std::string(text.substr(verb_end + 1))};
}

// One for each object.
std::vector<Change> changes_of(const plan::Op& op) {
  if (const auto* add = std::get_if<plan::AddRule>(&op)) return {{"added", "rule", words(add->rule)}};
  if (const auto* remove = std::get_if<plan::RemoveRule>(&op)) return {{"deleted", "rule", words(remove->rule)}};
  std::vector<Change> out;
  std::istringstream lines(plan::text(op));
  for (std::string line; std::getline(lines, line);) out.push_back(change(line));
  return out;
}

}  // namespace

void log_changes(const kernel::Engine::Report& report, base::Duration took) {
  const auto took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  std::size_t changes = 0;
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    if (report.outcome.results.at(i).effect != kernel::Effect::done) continue;
    for (const Change& change : changes_of(report.done.ops[i])) {
      if (++changes > kMostLines) continue;
      base::log::info(change.done, {{change.kind, change.what}, {"took_ms", took_ms}});
    }
  }
  if (changes > kMostLines) base::log::info("and more changes", {{"total", changes}, {"took_ms", took_ms}});
}

}  // namespace agent
