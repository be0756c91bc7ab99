#include "cli/standalone_page.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

void add_rules(Table& table, const agent::StandaloneStatus& status) {
  for (const auto& rule : status.rules) {
    const bool good = rule.reason == "Valid";
    table.row({{good ? "ok" : "!!", good ? Tone::good : Tone::bad},
               "IPRule/" + rule.name,
               fmt::to_string(rule.services),
               fmt::to_string(rule.vips),
               good ? rule.reason : fmt::format("{}: {}", rule.reason, rule.message)});
  }
  for (const auto& failed : status.failed) {
    table.row({{"!!", Tone::bad}, failed.name, "", "", fmt::format("{}: {}", failed.reason, failed.message)});
  }
}

std::size_t rules_in_trouble(const agent::StandaloneStatus& status) {
  std::size_t out = status.failed.size();
  for (const auto& rule : status.rules) out += rule.reason == "Valid" ? 0 : 1;
  return out;
}

// What stands in the way of packets although the rules are there, with the code whose page tells more.
std::vector<std::string> findings(const agent::StandaloneStatus& status) {
  std::vector<std::string> out;
  for (const auto& empty : status.empty_tables) {
    out.push_back(fmt::format("table {} has no {} route: lookups fall through to the next rule  IPR0311", empty.table,
                              names(empty.family)[static_cast<std::size_t>(empty.family)]));
  }
  for (const std::string& device : status.strict_devices) {
    out.push_back(fmt::format("rp_filter is 1 (strict) for {}: packets are dropped on arrival  IPR0310", device));
  }
  for (const std::string& foreign : status.clashes) {
    out.push_back(fmt::format("a rule of others for the same packets: {}  IPR0105", foreign));
  }
  if (status.drifting)
    out.emplace_back("others keep changing our rules; iprulectl drift --standalone shows it  IPR0314");
  return out;
}

// The agent's own words, and ours about it.
std::string document(const agent::StandaloneStatus& status, bool runs, bool healthy) {
  json::Reader reader;
  const std::string text = agent::encode(status);
  const auto object = reader.parse(text);
  const auto members = object.value().members();
  return json::object([&](json::Object& out) {
    for (const auto& member : members.value()) out.put_json(member.key, member.value.text());
    out.put("agentRuns", runs);
    out.put("healthy", healthy);
  });
}

}  // namespace

Answer show_standalone(const agent::StandaloneStatus& status, bool runs) {
  Answer answer;
  Table table(2);
  table.row({"", "OBJECT", "SERVICES", "VIPS", "STATE"});
  add_rules(table, status);
  table.print(answer.page);
  const auto found = findings(status);
  for (const std::string& line : found) answer.page.put("  !!  ", Tone::bad).put(line).end_line();
  if (!status.trouble.empty()) {
    answer.page.put("The folder cannot be read, the last good set stays: ", Tone::bad).put(status.trouble).end_line();
  }
  if (!status.settled) answer.page.put("Not there yet: ", Tone::warning).put(status.waiting).end_line();
  const bool is_kept = runs || status.once;
  if (!is_kept) answer.page.put("Its agent does not run: this is what it knew last.", Tone::bad).end_line();
  const bool healthy =
      is_kept && status.settled && status.trouble.empty() && found.empty() && rules_in_trouble(status) == 0;
  answer.page.line("{}: {} rules of ours in the kernel. {}", status.folder, status.kernel_rules,
                   healthy ? "Healthy." : "Not healthy.");
  if (!healthy) answer.code = ExitCode::attention;
  answer.json = document(status, runs, healthy);
  return answer;
}

}  // namespace cli
