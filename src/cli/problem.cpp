#include "cli/problem.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace cli {
namespace {

constexpr std::size_t kNamedNodes = 3;

// Which conditions of an object mean trouble, and the page that tells more.
struct Alarm {
  std::string_view type;
  meta::Truth status;
  std::string_view reason;  // Empty: any.
  std::string_view code;
};
constexpr std::array<Alarm, 9> kAlarms = {{
    {"Accepted", meta::Truth::no, "", "IPR0201"},
    {"Conflicted", meta::Truth::yes, "", "IPR0101"},
    {"RoutesMissing", meta::Truth::yes, "", "IPR0311"},
    {"Effective", meta::Truth::no, "SourceNeverSeen", "IPR0301"},
    {"Effective", meta::Truth::no, "StrictReversePath", "IPR0310"},
    {"Effective", meta::Truth::no, "PriorityAfterMain", "IPR0404"},
    {"Effective", meta::Truth::no, "", ""},
    {"Ready", meta::Truth::no, "", ""},
    {"Programmed", meta::Truth::no, "", ""},
}};

const Alarm* alarm_of(const meta::Condition& condition) {
  // No Service to steer is no trouble, and what is under way needs nobody. Missing routes have a condition of their
  // own.
  constexpr std::array<std::string_view, 3> kHarmless = {"NoMatch", "CleaningUp", "Progressing"};
  if (std::ranges::find(kHarmless, condition.reason) != kHarmless.end()) return nullptr;
  if (condition.type == "Effective" && condition.reason == "RoutesMissing") return nullptr;
  const auto* const found = std::ranges::find_if(kAlarms, [&](const Alarm& alarm) {
    return alarm.type == condition.type && alarm.status == condition.status &&
           (alarm.reason.empty() || alarm.reason == condition.reason);
  });
  return found != kAlarms.end() ? found : nullptr;
}

void add_conditions(std::vector<Problem>& problems, const std::string& object,
                    const std::vector<meta::Condition>& conditions) {
  for (const meta::Condition& condition : conditions) {
    const Alarm* alarm = alarm_of(condition);
    if (alarm == nullptr) continue;
    problems.push_back({.code = std::string(alarm->code),
                        .object = object,
                        .what = fmt::format("{}: {}", condition.reason, condition.message),
                        .since = condition.last_transition});
  }
}

// The same failure of the same object on many nodes is one problem.
void add_failures(std::vector<Problem>& problems, const std::vector<api::NodeState>& nodes) {
  std::map<std::tuple<std::string, std::string, std::string>, Problem> by_cause;
  for (const api::NodeState& node : nodes) {
    for (const auto& settled : node.status.settled) {
      for (const auto& failed : settled.failed) {
        Problem& problem = by_cause[{settled.kind, failed.name, failed.reason}];
        problem.object = fmt::format("{}/{}", settled.kind, failed.name.empty() ? failed.uid : failed.name);
        problem.what = failed.message.empty() ? failed.reason : fmt::format("{}: {}", failed.reason, failed.message);
        problem.nodes.insert(node.meta.name);
      }
    }
  }
  for (auto& [cause, problem] : by_cause) problems.push_back(std::move(problem));
}

}  // namespace

std::vector<Problem> problems_in(const ClusterFacts& facts, meta::Time now) {
  std::vector<Problem> out;
  if (facts.leader && !facts.leader->holder.empty() && now - facts.leader->renewed > kLeaderSilence) {
    out.push_back({.object = "iprule-controller",
                   .what = fmt::format("its leader {} has given no sign of life: changes are not published",
                                       facts.leader->holder),
                   .since = facts.leader->renewed});
  }
  for (const api::Agent& agent : facts.agents) {
    add_conditions(out, fmt::format("Agent/{}", agent.meta.name), agent.status.conditions);
  }
  for (const api::IPRule& rule : facts.rules) {
    add_conditions(out, fmt::format("IPRule/{}", rule.meta.name), rule.status.conditions);
  }
  add_failures(out, facts.nodes);
  std::ranges::stable_sort(out, std::ranges::greater(), [](const Problem& problem) { return problem.nodes.size(); });
  return out;
}

std::string nodes_text(const std::set<std::string>& nodes) {
  if (nodes.empty()) return "-";
  return nodes.size() <= kNamedNodes ? fmt::format("{}", fmt::join(nodes, ", "))
                                     : fmt::format("{} nodes", nodes.size());
}

}  // namespace cli
