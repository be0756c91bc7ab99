#include "cli/status.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/age.h"
#include "cli/components.h"
#include "cli/counted.h"
#include "cli/gaps.h"
#include "cli/problem.h"
#include "cli/rule_problems.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::size_t kShownProblems = 20;

// "in sync", or how many nodes are what else: "1 failing, 2 unknown".
std::string state_of(const ClusterFacts& facts) {
  const auto living = living_nodes(facts);
  std::map<std::string, std::size_t> others;
  for (const api::NodeState& node : facts.nodes) {
    if (is_in_sync(node, living)) continue;
    const bool is_known = !living || living->contains(node.meta.name);
    const bool is_failing = is_known && node.status.sync == api::Sync::failing;
    const bool is_applying = is_known && node.status.sync == api::Sync::applying;
    ++others[is_failing ? "failing" : is_applying ? "applying" : "unknown"];
  }
  std::string out;
  for (const auto& [state, count] : others) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, state);
  return out.empty() ? "in sync" : out;
}

Table jobs(const ClusterFacts& facts, bool healthy) {
  Table table(2);
  table.row({"", "JOB", "OBJECTS", "NODES", "STATE"});
  table.row(
      {light_of(healthy), "service rules",
       fmt::format("{}, {}", counted(facts.rules.size(), "IPRule"), counted(facts.configs.size(), "IPRuleConfig")),
       fmt::format("{}/{}", nodes_in_sync(facts), facts.nodes.size()), state_of(facts)});
  return table;
}

void put(json::Array& list, const Problem& problem) {
  list.object([&](json::Object& item) {
    item.put_unless_empty("code", problem.code);
    item.put("object", object_text(problem));
    item.put("what", what_text(problem));
    if (problem.since) item.put("since", meta::format_time(*problem.since));
    const auto put_all = [&](std::string_view name, const std::set<std::string>& words) {
      item.array(name, [&](json::Array& out) {
        for (const std::string& word : words) out.put(word);
      });
    };
    put_all("nodes", problem.nodes);
    put_all("objects", problem.objects);
    if (problem.messages.size() > 1) put_all("messages", problem.messages);
    item.put_unless_empty("next", problem.next);
  });
}

struct Report {
  std::vector<Component> components;
  std::vector<Problem> problems;
  std::vector<std::string> gaps;
  bool healthy = false;
};

std::string json_of(const ClusterFacts& facts, const Report& report) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "StatusReport");
    out.put("healthy", report.healthy);
    if (facts.is_not_installed()) out.put("installed", false);
    out.put("rules", facts.rules.size());
    out.put("rulesUnderWay", rules_under_way(facts));
    out.put("configs", facts.configs.size());
    out.object("nodes", [&](json::Object& nodes) {
      nodes.put("known", facts.nodes.size());
      nodes.put("inSync", nodes_in_sync(facts));
    });
    out.array("components", [&](json::Array& list) {
      for (const Component& component : report.components) put(list, component);
    });
    out.array("problems", [&](json::Array& list) {
      for (const Problem& problem : report.problems) put(list, problem);
    });
    put_gaps(out, report.gaps);
  });
}

void print_problems(Page& page, const std::vector<Problem>& problems, meta::Time now) {
  Table table(2);
  table.row({"PROBLEM", "SINCE", "OBJECT", "NODES", "WHAT"});
  for (const Problem& problem : problems) {
    if (&problem - problems.data() >= static_cast<std::ptrdiff_t>(kShownProblems)) break;
    table.row({{problem.code.empty() ? "-" : problem.code, Tone::bad},
               problem.since ? age_text(now - *problem.since) : "-",
               object_text(problem),
               nodes_text(problem.nodes),
               what_text(problem)});
  }
  if (problems.size() > kShownProblems) {
    table.row({fmt::format("... and {} more: -o json has them all", problems.size() - kShownProblems)});
  }
  table.print(page);
}

void print(Page& page, const ClusterFacts& facts, const Report& report, meta::Time now) {
  if (facts.is_not_installed()) {
    page.line("Nothing of ours is installed here.  Next: iprulectl doctor --preflight");
    return;
  }
  table_of(report.components).print(page);
  jobs(facts, report.healthy).print(page);
  if (!report.problems.empty()) print_problems(page, report.problems, now);
  if (report.healthy) {
    const std::size_t busy = rules_under_way(facts);
    page.put("Healthy.", Tone::good);
    if (busy > 0) page.put(fmt::format("  {} under way.", counted(busy, "IPRule")));
    page.end_line();
  } else if (!report.problems.empty()) {
    page.line("Not healthy: {}.  Next: {}", counted(report.problems.size(), "problem"), report.problems.front().next);
  }
}

}  // namespace

bool ClusterFacts::is_not_installed() const {
  constexpr std::size_t kOurKinds = 4;
  if (!gaps.empty() || !controller.gaps.empty()) return false;
  if (unserved.size() == kOurKinds) return true;
  return controller.is_absent() && agents.empty() && rules.empty() && configs.empty() && nodes.empty();
}

std::optional<std::set<std::string>> living_nodes(const ClusterFacts& facts) {
  if (!facts.runs) return std::nullopt;
  std::set<std::string> out;
  for (const AgentRun& run : *facts.runs) {
    if (run.runs()) out.insert(run.node);
  }
  return out;
}

bool is_in_sync(const api::NodeState& node, const std::optional<std::set<std::string>>& living) {
  return node.status.sync == api::Sync::in_sync && (!living || living->contains(node.meta.name));
}

std::size_t nodes_in_sync(const ClusterFacts& facts) {
  const auto living = living_nodes(facts);
  return static_cast<std::size_t>(
      std::ranges::count_if(facts.nodes, [&](const api::NodeState& node) { return is_in_sync(node, living); }));
}

std::size_t rules_under_way(const ClusterFacts& facts) {
  return static_cast<std::size_t>(std::ranges::count_if(facts.rules, is_under_way));
}

Answer show_status(const ClusterFacts& facts, meta::Time now) {
  Report report{.components = components_of(facts, now), .problems = problems_in(facts, now), .gaps = facts.gaps};
  report.gaps.insert(report.gaps.end(), facts.controller.gaps.begin(), facts.controller.gaps.end());
  report.healthy = report.problems.empty() && report.gaps.empty();
  Answer answer{.page = {}, .json = {}, .code = report.healthy ? ExitCode::fine : ExitCode::attention};
  print(answer.page, facts, report, now);
  add_gaps(answer, report.gaps);
  answer.json = json_of(facts, report);
  return answer;
}

}  // namespace cli
