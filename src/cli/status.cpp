#include "cli/status.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/age.h"
#include "cli/problem.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::size_t kShownProblems = 20;

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Table::Cell light(bool good) {
  return good ? Table::Cell("ok", Tone::good) : Table::Cell("!!", Tone::bad);
}

std::vector<Table::Cell> controller_row(const ClusterFacts& facts, meta::Time now) {
  if (facts.leader_unknown) return {"?", "iprule-controller", "-", "its Lease may not be read"};
  if (!facts.leader || facts.leader->holder.empty()) return {"--", "iprule-controller", "-", "nobody leads"};
  return {light(now - facts.leader->renewed <= kLeaderSilence), "iprule-controller", "-",
          "leader " + facts.leader->holder};
}

Table components(const ClusterFacts& facts, meta::Time now) {
  Table table(2);
  table.row({"", "COMPONENT", "READY", "DETAIL"});
  table.row(controller_row(facts, now));
  if (facts.agents.empty()) table.row({"--", "iprule-agent", "0/0", "no Agent object: no agents run"});
  for (const api::Agent& agent : facts.agents) {
    const meta::Condition* ready = meta::find(agent.status.conditions, "Ready");
    const bool good = ready != nullptr && ready->status == meta::Truth::yes;
    table.row({light(good), "iprule-agent", fmt::format("{}/{}", agent.status.ready, agent.status.desired),
               fmt::format("Agent/{} {}", agent.meta.name, ready != nullptr ? ready->reason : "not looked at yet")});
  }
  return table;
}

Table jobs(const ClusterFacts& facts, bool healthy) {
  const std::size_t synced = nodes_in_sync(facts);
  Table table(2);
  table.row({"", "JOB", "OBJECTS", "NODES", "STATE"});
  table.row(
      {light(healthy && synced == facts.nodes.size()), "service rules",
       fmt::format("{}, {}", counted(facts.rules.size(), "IPRule"), counted(facts.configs.size(), "IPRuleConfig")),
       fmt::format("{}/{}", synced, facts.nodes.size()), synced == facts.nodes.size() ? "in sync" : "applying"});
  return table;
}

std::string json_of(const ClusterFacts& facts, const std::vector<Problem>& problems, bool healthy) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "StatusReport");
    out.put("healthy", healthy);
    out.put("rules", facts.rules.size());
    out.put("configs", facts.configs.size());
    out.object("nodes", [&](json::Object& nodes) {
      nodes.put("known", facts.nodes.size());
      nodes.put("inSync", nodes_in_sync(facts));
    });
    out.array("problems", [&](json::Array& list) {
      for (const Problem& problem : problems) {
        list.object([&](json::Object& item) {
          item.put_unless_empty("code", problem.code);
          item.put("object", problem.object);
          item.put("what", problem.what);
          if (problem.since) item.put("since", meta::format_time(*problem.since));
          item.array("nodes", [&](json::Array& nodes) {
            for (const std::string& node : problem.nodes) nodes.put(node);
          });
        });
      }
    });
    out.array("notAsked", [&](json::Array& list) {
      for (const std::string& gap : facts.gaps) list.put(gap);
    });
  });
}

void print_problems(Page& page, const std::vector<Problem>& problems, meta::Time now) {
  Table table(2);
  table.row({"PROBLEM", "SINCE", "OBJECT", "NODES", "WHAT"});
  for (const Problem& problem : problems) {
    if (&problem - problems.data() >= static_cast<std::ptrdiff_t>(kShownProblems)) break;
    table.row({{problem.code.empty() ? "-" : problem.code, Tone::bad},
               problem.since ? age_text(now - *problem.since) : "-",
               problem.object,
               nodes_text(problem.nodes),
               problem.what});
  }
  if (problems.size() > kShownProblems) {
    table.row({fmt::format("... and {} more: -o json has them all", problems.size() - kShownProblems)});
  }
  table.print(page);
}

}  // namespace

std::size_t nodes_in_sync(const ClusterFacts& facts) {
  return static_cast<std::size_t>(std::ranges::count_if(
      facts.nodes, [](const api::NodeState& node) { return node.status.sync == api::Sync::in_sync; }));
}

Answer show_status(const ClusterFacts& facts, meta::Time now) {
  Answer answer;
  const auto problems = problems_in(facts, now);
  const bool healthy = problems.empty() && facts.gaps.empty();
  components(facts, now).print(answer.page);
  jobs(facts, healthy).print(answer.page);
  if (!problems.empty()) print_problems(answer.page, problems, now);
  for (const std::string& gap : facts.gaps) {
    answer.page.put("Not asked: ", Tone::warning).put(gap).end_line();
  }
  if (healthy) {
    answer.page.put("Healthy.", Tone::good).end_line();
  } else if (!problems.empty()) {
    const auto coded = std::ranges::find_if(problems, [](const Problem& problem) { return !problem.code.empty(); });
    answer.page.line("Not healthy: {}.{}", counted(problems.size(), "problem"),
                     coded != problems.end() ? "  Next: iprulectl explain " + coded->code : "");
  }
  answer.code = !facts.gaps.empty() ? ExitCode::could_not_ask : healthy ? ExitCode::fine : ExitCode::attention;
  answer.json = json_of(facts, problems, healthy);
  return answer;
}

}  // namespace cli
