#include "cli/problem.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/component_problems.h"
#include "cli/node_problems.h"
#include "cli/rule_problems.h"

namespace cli {
namespace {

constexpr std::size_t kNamedNodes = 3;

void append(std::vector<Problem>& out, std::vector<Problem> more) {
  std::ranges::move(more, std::back_inserter(out));
}

}  // namespace

void Causes::add(const std::string& cause, Problem problem) {
  const auto [known, is_first] = by_cause_.try_emplace(cause, problem);
  if (is_first) return;
  Problem& same = known->second;
  same.messages.merge(problem.messages);
  same.objects.merge(problem.objects);
  same.nodes.merge(problem.nodes);
  if (problem.since && (!same.since || *problem.since < *same.since)) same.since = problem.since;
}

std::vector<Problem> Causes::take() && {
  std::vector<Problem> out;
  for (auto& [cause, problem] : by_cause_) out.push_back(std::move(problem));
  return out;
}

std::vector<Problem> problems_in(const ClusterFacts& facts, meta::Time now) {
  std::vector<Problem> out = controller_problems(facts, now);
  append(out, agent_problems(facts));
  std::vector<Problem> job = node_problems(facts);
  append(job, rule_problems(facts, {.agents = !out.empty(), .nodes = !job.empty()}));
  std::ranges::stable_sort(job, std::ranges::greater(), [](const Problem& problem) { return problem.nodes.size(); });
  append(out, std::move(job));
  return out;
}

std::string what_text(const Problem& problem) {
  if (problem.messages.empty()) return problem.reason;
  std::string out = *problem.messages.begin();
  if (!problem.reason.empty()) out = out.empty() ? problem.reason : fmt::format("{}: {}", problem.reason, out);
  const std::size_t others = problem.messages.size() - 1;
  return others == 0 ? out : fmt::format("{} (and {} other message{})", out, others, others == 1 ? "" : "s");
}

std::string object_text(const Problem& problem) {
  if (problem.objects.empty()) return "-";
  const std::string& first = *problem.objects.begin();
  return problem.objects.size() == 1 ? first : fmt::format("{} and {} more", first, problem.objects.size() - 1);
}

std::string nodes_text(const std::set<std::string>& nodes) {
  if (nodes.empty()) return "-";
  return nodes.size() <= kNamedNodes ? fmt::format("{}", fmt::join(nodes, ", "))
                                     : fmt::format("{} nodes", nodes.size());
}

}  // namespace cli
