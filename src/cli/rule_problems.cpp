#include "cli/rule_problems.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "intent/cluster/prospect.h"

namespace cli {
namespace {

using meta::Truth;

// Which conditions of an IPRule mean trouble, and the page that tells more.
struct Alarm {
  std::string_view type;
  Truth status;
  std::string_view reason;  // Empty: any.
  std::string_view code;
};
constexpr std::array<Alarm, 9> kAlarms = {{
    {"Accepted", Truth::no, "", "IPR0201"},
    {"Conflicted", Truth::yes, "", "IPR0101"},
    {"RoutesMissing", Truth::yes, "", "IPR0311"},
    {"Effective", Truth::no, "SourceNeverSeen", "IPR0301"},
    {"Effective", Truth::no, "StrictReversePath", "IPR0310"},
    {"Effective", Truth::no, "PriorityAfterMain", "IPR0404"},
    {"Effective", Truth::no, "", ""},
    {"Programmed", Truth::no, "", ""},
    {"Programmed", Truth::unknown, "AgentsUnseen", ""},
}};

bool is_told(const meta::Condition& condition, const Told& told) {
  if (condition.type == "Effective") return condition.reason == "RoutesMissing";  // It has a condition of its own.
  if (condition.type != "Programmed") return false;
  // No Service to steer is no trouble, and what is being removed needs nobody.
  if (condition.reason == "NoMatch" || condition.reason == "CleaningUp") return true;
  if (condition.reason == "NodesFailing") return told.nodes;
  const bool is_of_agents =
      condition.reason == "AgentMissing" || condition.reason == "AgentNotReady" || condition.reason == "AgentsUnseen";
  return is_of_agents && (told.agents || told.nodes);
}

const Alarm* alarm_of(const meta::Condition& condition) {
  const auto* const found = std::ranges::find_if(kAlarms, [&](const Alarm& alarm) {
    return alarm.type == condition.type && alarm.status == condition.status &&
           (alarm.reason.empty() || alarm.reason == condition.reason);
  });
  return found != kAlarms.end() ? found : nullptr;
}

bool lacks_routes(const api::NodeState& node, const api::IPRule& rule) {
  const auto table = intent::table_on(rule.spec, node.status.facts);
  return std::ranges::any_of(node.status.empty_tables, [&](const auto& empty) { return table == empty.table; });
}

bool has_proxy(const api::NodeState& node) {
  const api::ServiceProxy proxy = node.status.facts.service_proxy;
  return proxy != api::ServiceProxy::unknown && proxy != api::ServiceProxy::none;
}

bool is_strict(const api::NodeState& node) {
  constexpr int kStrict = 1;
  return std::ranges::find(node.status.facts.reverse_path_filter, kStrict, &api::NodeState::ReversePathFilter::value) !=
         node.status.facts.reverse_path_filter.end();
}

// The nodes behind a code, by their own reports. An IPRule for some nodes only is left to its message, which names
// them: which labels they have is not read here. A table that is empty is reported by nodes alone that look it up.
std::set<std::string> nodes_of(std::string_view code, const api::IPRule& rule,
                               const std::vector<api::NodeState>& nodes) {
  const bool is_for_all = rule.spec.node_selector.empty();
  std::set<std::string> out;
  for (const api::NodeState& node : nodes) {
    const bool is_meant = (code == "IPR0311" && lacks_routes(node, rule)) ||
                          (code == "IPR0301" && is_for_all && has_proxy(node)) ||
                          (code == "IPR0310" && is_for_all && is_strict(node));
    if (is_meant) out.insert(node.meta.name);
  }
  return out;
}

std::string next_step(std::string_view code, const api::IPRule& rule, const std::set<std::string>& nodes) {
  if (!code.empty() && !nodes.empty()) return "iprulectl doctor --node " + *nodes.begin();
  if (!code.empty()) return fmt::format("iprulectl explain {}", code);
  return "kubectl describe iprule " + rule.meta.name;
}

void add_conditions(std::vector<Problem>& out, const api::IPRule& rule, const std::vector<api::NodeState>& nodes,
                    const Told& told) {
  for (const meta::Condition& condition : rule.status.conditions) {
    const Alarm* alarm = alarm_of(condition);
    if (alarm == nullptr || is_told(condition, told)) continue;
    Problem problem{.code = std::string(alarm->code),
                    .reason = condition.reason,
                    .messages = {condition.message},
                    .objects = {fmt::format("IPRule/{}", rule.meta.name)},
                    .nodes = nodes_of(alarm->code, rule, nodes)};
    if (condition.last_transition != meta::Time()) problem.since = condition.last_transition;
    problem.next = next_step(alarm->code, rule, problem.nodes);
    out.push_back(std::move(problem));
  }
}

}  // namespace

std::vector<Problem> rule_problems(const ClusterFacts& facts, const Told& told) {
  std::vector<Problem> out;
  for (const std::string& kind : facts.unserved) {
    out.push_back({.messages = {"the server does not know this kind: the install is not whole"},
                   .objects = {kind},
                   .next = "kubectl apply -f dist/install.yaml"});
  }
  for (const api::IPRule& rule : facts.rules) add_conditions(out, rule, facts.nodes, told);
  return out;
}

bool is_under_way(const api::IPRule& rule) {
  const meta::Condition* programmed = meta::find(rule.status.conditions, "Programmed");
  return programmed == nullptr || programmed->observed_generation < rule.meta.generation ||
         programmed->reason == "Progressing" || programmed->reason == "CleaningUp";
}

}  // namespace cli
