#include "cli/node_problems.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace cli {
namespace {

// What a node refuses an object for, where a page tells more.
std::string_view code_of(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kCodes = {{
      {"NoFreeMark", "IPR0317"},
      {"PriorityTooLow", "IPR0318"},
      {"NoNftables", "IPR0319"},
      {"TooManyRules", "IPR0320"},
      {"ProtectedSource", "IPR0501"},
  }};
  const auto* const found = std::ranges::find(kCodes, reason, &std::pair<std::string_view, std::string_view>::first);
  return found != kCodes.end() ? found->second : "";
}

std::optional<meta::Time> known(meta::Time time) {
  return time == meta::Time() ? std::nullopt : std::optional(time);
}

using Begins = std::map<std::pair<std::string, std::string>, meta::Time>;

// When an IPRuleConfig began to fail on a node, by the controller's word.
Begins begins_of(const std::vector<api::IPRuleConfig>& configs) {
  Begins out;
  for (const api::IPRuleConfig& config : configs) {
    for (const auto& failure : config.status.nodes) out[{config.meta.name, failure.node}] = failure.last_transition;
  }
  return out;
}

class NodeProblems {
 public:
  explicit NodeProblems(const ClusterFacts& facts)
      : begins_(begins_of(facts.configs)),
        runs_(runs_by_node(facts.runs.value_or(std::vector<AgentRun>()))),
        knows_runs_(facts.runs.has_value()) {}

  void look_at(const api::NodeState& node) {
    const auto run = runs_.find(node.meta.name);
    if (knows_runs_ && (run == runs_.end() || !run->second.runs())) {
      return add_dead(node, run != runs_.end() ? &run->second : nullptr);
    }
    const bool has_failures = add_failures(node);
    if (!has_failures && node.status.sync != api::Sync::in_sync) add_unsynced(node);
    add_condition(node, "Clashing", "IPR0105");
    add_condition(node, "Drifting", "IPR0314");
  }

  std::vector<Problem> take() && { return std::move(causes_).take(); }

 private:
  // What it reported last may still be so, and nobody would tell if it were not.
  void add_dead(const api::NodeState& node, const AgentRun* run) {
    const std::string why = why_it_does_not_run(run);
    causes_.add("dead " + why, {.messages = {why + ": what the kernel has now is not known"},
                                .objects = {"iprule-agent"},
                                .since = run != nullptr ? known(run->trouble.since) : std::nullopt,
                                .nodes = {node.meta.name},
                                .next = run != nullptr ? fmt::format("kubectl describe pod -n {} {}", run->ns, run->pod)
                                                       : "kubectl get pods -A -o wide -l app=iprule-agent"});
  }

  // The same refusal of a hundred objects is one cause; false: there is none.
  bool add_failures(const api::NodeState& node) {
    bool any = false;
    for (const auto& settled : node.status.settled) {
      for (const auto& failed : settled.failed) {
        any = true;
        const std::string code(code_of(failed.reason));
        const auto begin = begins_.find({failed.name, node.meta.name});
        causes_.add(fmt::format("failed {} {}", settled.kind, failed.reason),
                    {.code = code,
                     .reason = failed.reason,
                     .messages = {failed.message},
                     .objects = {fmt::format("{}/{}", settled.kind, failed.name.empty() ? failed.uid : failed.name)},
                     .since = begin != begins_.end() ? known(begin->second) : std::nullopt,
                     .nodes = {node.meta.name},
                     .next = code.empty() ? "iprulectl diff --node " + node.meta.name : "iprulectl explain " + code});
      }
    }
    return any;
  }

  void add_unsynced(const api::NodeState& node) {
    const meta::Condition* synced = meta::find(node.status.conditions, "Synced");
    Problem problem{.reason = "NoReport",
                    .messages = {"the agent has not reported yet"},
                    .objects = {"NodeState"},
                    .nodes = {node.meta.name},
                    .next = "kubectl get nodestates"};
    if (synced != nullptr) {
      problem.reason = synced->reason;
      problem.messages = {synced->message};
      problem.since = known(synced->last_transition);
      problem.next = "iprulectl doctor --node " + node.meta.name;
    } else if (node.status.sync != api::Sync::unknown) {
      problem.reason = std::string(names(node.status.sync)[static_cast<std::size_t>(node.status.sync)]);
      problem.messages = {"the kernel is not yet as published"};
    }
    const std::string cause = "unsynced " + problem.reason;
    causes_.add(cause, std::move(problem));
  }

  void add_condition(const api::NodeState& node, const std::string& type, const std::string& code) {
    const meta::Condition* condition = meta::find(node.status.conditions, type);
    if (condition == nullptr || condition->status != meta::Truth::yes) return;
    causes_.add(type + " " + condition->reason, {.code = code,
                                                 .reason = condition->reason,
                                                 .messages = {condition->message},
                                                 .objects = {"NodeState"},
                                                 .since = known(condition->last_transition),
                                                 .nodes = {node.meta.name},
                                                 .next = "iprulectl drift"});
  }

  const Begins begins_;
  const std::map<std::string, AgentRun> runs_;
  const bool knows_runs_;
  Causes causes_;
};

}  // namespace

std::vector<Problem> node_problems(const ClusterFacts& facts) {
  NodeProblems out(facts);
  for (const api::NodeState& node : facts.nodes) out.look_at(node);
  return std::move(out).take();
}

}  // namespace cli
