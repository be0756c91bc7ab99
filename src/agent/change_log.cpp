#include "agent/change_log.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "plan/plan.h"

namespace agent {
namespace {

constexpr std::size_t kMostLines = 200;

// Operations read "add IPv4 rule ..."; what was done reads "added".
std::string_view done(std::string_view verb) {
  if (verb == "add" || verb == "create") return "added";
  if (verb == "remove" || verb == "delete") return "deleted";
  return "changed";
}

// One line per object; else the whole is one.
std::vector<std::string> lines_of(const plan::Op& op) {
  std::string text = plan::text(op);
  if (!std::holds_alternative<plan::ChangeNft>(op)) return {std::move(text)};
  std::vector<std::string> out;
  std::istringstream lines(text);
  while (std::getline(lines, text)) out.push_back(text);
  return out;
}

}  // namespace

void log_changes(const kernel::Engine::Report& report) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    if (report.outcome.results.at(i).effect != kernel::Effect::done) continue;
    for (const std::string& text : lines_of(report.done.ops[i])) {
      if (++changes > kMostLines) continue;
      const auto verb_end = text.find(' ');
      base::log::info(done(text.substr(0, verb_end)), {{"what", text.substr(verb_end + 1)}});
    }
  }
  if (changes > kMostLines) base::log::info("and more changes", {{"total", std::to_string(changes)}});
}

}  // namespace agent
