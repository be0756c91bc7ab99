#include "cli/findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cli/pointers.h"
#include "cli/steering_obstacles.h"
#include "intent/cluster/desired.h"
#include "intent/cluster/number_advice.h"

namespace cli {
namespace {

constexpr std::string_view kIgnore = "iprule.operator.brtrm.dev/ignore-findings";

std::set<std::string> codes_in(std::string_view list) {
  std::set<std::string> out;
  while (!list.empty()) {
    const auto start = list.find_first_not_of(", ");
    if (start == std::string_view::npos) break;
    list.remove_prefix(start);
    const std::string_view code = list.substr(0, list.find_first_of(", "));
    out.emplace(code);
    list.remove_prefix(code.size());
  }
  return out;
}

std::string object_name(const api::IPRule& rule) {
  return fmt::format("IPRule/{}", rule.meta.name);
}

// "Node/worker-3", or how many there are.
std::string object_name(const std::vector<std::string>& nodes) {
  return nodes.size() == 1 ? "Node/" + nodes.front() : fmt::format("{} nodes", nodes.size());
}

bool uses(const intent::RuleOutcome& outcome, net::Family family) {
  const auto& prefixes = outcome.acceptance.prefixes;
  return std::ranges::find(prefixes, family, &net::Prefix::family) != prefixes.end();
}

class Analysis {
 public:
  Analysis(const agent::Manifests& objects, const std::vector<NodeSight>& nodes) : objects_(objects), nodes_(nodes) {}

  std::vector<Finding> run() {
    const auto rules = pointers(objects_.rules);
    const auto services = pointers(objects_.services);
    const auto nodes = pointers(objects_.nodes);
    const auto slices = pointers(objects_.slices);
    const auto desired = intent::desired_configs({.rules = rules,
                                                  .services = services,
                                                  .nodes = nodes,
                                                  .slices = slices,
                                                  .default_priority = default_priority_});
    for (const intent::RuleOutcome& outcome : desired.rules) look_at(outcome);
    for (const intent::ServiceFinding& finding : desired.findings) take(finding);
    for (const NodeSight& node : nodes_) {
      if (!node.clash.empty()) found_.push_back(on_nodes({.code = "IPR0105", .what = node.clash}, {node.name}));
    }
    std::ranges::sort(found_, [](const Finding& a, const Finding& b) {
      return std::tuple(-static_cast<int>(a.severity), a.code, a.object, a.message) <
             std::tuple(-static_cast<int>(b.severity), b.code, b.object, b.message);
    });
    return std::move(found_);
  }

 private:
  void look_at(const intent::RuleOutcome& outcome) {
    silenced_ = codes_in(outcome.rule->meta.annotations.get(kIgnore));
    judge_spec(outcome);
    judge_shadowings(outcome);
    if (outcome.acceptance.accepted()) judge_nodes(outcome);
  }

  void say(Finding finding) {
    if (!silenced_.contains(finding.code)) found_.push_back(std::move(finding));
  }

  void judge_spec(const intent::RuleOutcome& outcome) {
    const api::IPRule& rule = *outcome.rule;
    const auto tell = [&](Severity severity, std::string code, std::string message) {
      say({.severity = severity, .code = std::move(code), .object = object_name(rule), .message = std::move(message)});
    };
    if (outcome.acceptance.reason != "Valid") {
      tell(outcome.acceptance.accepted() ? Severity::warning : Severity::error, "IPR0201", outcome.acceptance.message);
    }
    for (const std::string& conflict : outcome.conflicts) tell(Severity::error, "IPR0101", conflict);
    if (outcome.acceptance.accepted() && outcome.matched_services == 0 && !objects_.services.empty()) {
      tell(Severity::info, "IPR0402", "no LoadBalancer Service has an address in its prefixes");
    }
    if (!rule.spec.node_selector_label.empty()) {
      tell(Severity::info, "IPR0403", "spec.nodeSelectorLabel has no effect; use spec.nodeSelector");
    }
    const std::uint32_t priority =
        intent::effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), default_priority_);
    if (priority >= state::kPriorityMain) {
      tell(Severity::warning, "IPR0404",
           fmt::format("{}: {} is behind the rule for main at {}",
                       rule.spec.priority != 0 ? "spec.priority" : "the Agent's defaultPriority", priority,
                       state::kPriorityMain));
    }
    // Whether that program is there nobody can see in the objects; what is the kernel's own is there on every node.
    for (const intent::NumberAdvice& advice : intent::number_advice(rule, default_priority_)) {
      tell(advice.is_kernels ? Severity::warning : Severity::info, std::string(intent::kNumberOfOthers),
           fmt::format("{}: {}", advice.field, advice.text));
    }
    const auto selected = [&](const api::Node& node) { return rule.spec.node_selector.matches(node.meta.labels); };
    if (!objects_.nodes.empty() && std::ranges::none_of(objects_.nodes, selected)) {
      tell(Severity::info, "IPR0401",
           fmt::format("selects no node: none has the labels {}", rule.spec.node_selector.text()));
    }
  }

  // It is the winner that somebody has to look at: the other one has lost what its prefix says.
  void judge_shadowings(const intent::RuleOutcome& outcome) {
    for (const intent::Shadowing& one : outcome.shadowings) {
      if (codes_in(one.winner->meta.annotations.get(kIgnore)).contains("IPR0102")) continue;
      say({.severity = Severity::warning,
           .code = "IPR0102",
           .object = object_name(*one.winner),
           .message = fmt::format("{} takes {} ({}) from {}", one.prefix.text(), one.vip.text(),
                                  meta::full_name(one.service->meta), object_name(*outcome.rule))});
    }
    const auto more = outcome.shadowed_vips - static_cast<std::int32_t>(outcome.shadowings.size());
    if (more <= 0) return;
    say({.severity = Severity::warning,
         .code = "IPR0102",
         .object = object_name(*outcome.rule),
         .message = fmt::format("other IPRules take {} more of its addresses", more)});
  }

  void judge_nodes(const intent::RuleOutcome& outcome) {
    const api::IPRule& rule = *outcome.rule;
    const auto modes = rule.modes();
    const bool replies = std::ranges::find(modes, api::SourceMode::reply) != modes.end();
    std::map<SteeringObstacle, std::vector<std::string>> met;  // And on which nodes.
    for (const NodeSight& node : nodes_) {
      if (!rule.spec.node_selector.matches(node.labels)) continue;
      const auto meet = [&](const SteeringObstacle& obstacle) { met[obstacle].push_back(node.name); };
      for (const net::Family family : {net::Family::v4, net::Family::v6}) {
        if (!uses(outcome, family)) continue;
        if (const auto empty = empty_table(node.facts, rule.spec.table, family)) meet(*empty);
      }
      if (const auto unseen = unseen_sources(node.facts, modes)) meet(*unseen);
      if (!replies && !node.marks) continue;
      for (const SteeringObstacle& strict : strict_filters(node.facts)) meet(strict);
    }
    for (const auto& [obstacle, names] : met) {
      Finding finding = on_nodes(obstacle, names);
      finding.message = fmt::format("{}; used by {}", finding.message, object_name(rule));
      if (obstacle.code == "IPR0301") {  // The cure is in the IPRule, not on the nodes.
        finding.object = object_name(rule);
        finding.message = fmt::format("{}: {}", obstacle.what, names_text(names));
      }
      say(std::move(finding));
    }
  }

  static Finding on_nodes(const SteeringObstacle& obstacle, const std::vector<std::string>& names) {
    return {.severity = Severity::warning,
            .code = obstacle.code,
            .object = object_name(names),
            .message = names.size() == 1 ? obstacle.what : fmt::format("{}: {}", names_text(names), obstacle.what),
            .nodes = names};
  }

  void take(const intent::ServiceFinding& finding) {
    using Reason = intent::ServiceFinding::Reason;
    const auto [severity, code] = [&]() -> std::pair<Severity, std::string_view> {
      switch (finding.reason) {
        case Reason::no_cluster_ip:
        case Reason::family_mismatch:
          return {Severity::warning, "IPR0204"};
        case Reason::hostname_only_ingress:
          return {Severity::warning, "IPR0203"};
        case Reason::priority_conflict:
          return {Severity::error, "IPR0101"};
        case Reason::proxied_address:
          return {Severity::warning, "IPR0206"};
      }
      return {Severity::info, "IPR0204"};
    }();
    found_.push_back({.severity = severity,
                      .code = std::string(code),
                      .object = fmt::format("Service/{}", meta::full_name(finding.service->meta)),
                      .message = finding.message});
  }

  const agent::Manifests& objects_;
  const std::vector<NodeSight>& nodes_;
  std::uint32_t default_priority_ = agent::default_priority(objects_);
  std::set<std::string> silenced_;  // Of the IPRule that is looked at.
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> findings_in(const agent::Manifests& objects, const std::vector<NodeSight>& nodes) {
  return Analysis(objects, nodes).run();
}

}  // namespace cli
