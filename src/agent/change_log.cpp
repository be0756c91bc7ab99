#include "agent/change_log.h"

#include <string>
#include <string_view>

#include "base/log.h"
#include "plan/plan.h"

namespace agent {
namespace {

constexpr std::size_t kMostLines = 200;

// Operations read "add IPv4 rule ..."; what was done reads "added".
std::string_view done(std::string_view verb) {
  if (verb == "add") return "added";
  if (verb == "remove") return "deleted";
  return "changed";
}

}  // namespace

void log_changes(const kernel::Engine::Report& report) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    if (report.outcome.results.at(i).effect != kernel::Effect::done) continue;
    if (++changes > kMostLines) continue;
    const std::string text = plan::text(report.done.ops[i]);
    const auto verb_end = text.find(' ');
    base::log::info(done(text.substr(0, verb_end)), {{"what", text.substr(verb_end + 1)}});
  }
  if (changes > kMostLines) base::log::info("and more changes", {{"total", std::to_string(changes)}});
}

}  // namespace agent
