#include "cli/standalone_page.h"

#include <fmt/format.h>

namespace cli {

Answer show_standalone(const agent::StandaloneStatus& status) {
  Answer answer;
  Table table(2);
  table.row({"", "OBJECT", "SERVICES", "VIPS", "STATE"});
  std::size_t problems = status.failed.size() + (status.trouble.empty() ? 0 : 1) + (status.settled ? 0 : 1);
  for (const auto& rule : status.rules) {
    const bool good = rule.reason == "Valid";
    if (!good) ++problems;
    table.row({{good ? "ok" : "!!", good ? Tone::good : Tone::bad},
               "IPRule/" + rule.name,
               fmt::to_string(rule.services),
               fmt::to_string(rule.vips),
               good ? rule.reason : fmt::format("{}: {}", rule.reason, rule.message)});
  }
  for (const auto& failed : status.failed) {
    table.row({{"!!", Tone::bad}, failed.name, "", "", fmt::format("{}: {}", failed.reason, failed.message)});
  }
  table.print(answer.page);
  if (!status.trouble.empty()) {
    answer.page.put("The folder cannot be read, the last good set stays: ", Tone::bad).put(status.trouble).end_line();
  }
  if (!status.settled) answer.page.put("Not there yet: ", Tone::warning).put(status.waiting).end_line();
  answer.page.line("{}: {} rules of ours in the kernel. {}", status.folder, status.kernel_rules,
                   problems == 0 ? "Healthy." : "Not healthy.");
  if (problems > 0) answer.code = ExitCode::attention;
  answer.json = agent::encode(status);
  return answer;
}

}  // namespace cli
