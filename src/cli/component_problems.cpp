#include "cli/component_problems.h"

#include <utility>

#include <fmt/format.h>

#include "api/pod.h"

namespace cli {
namespace {

std::string pods_of(const std::string& ns, std::string_view labels) {
  return fmt::format("kubectl get pods -o wide{} -l {}", ns.empty() ? " -A" : " -n " + ns, labels);
}

}  // namespace

meta::Condition readiness(const api::Agent& agent) {
  const meta::Condition* ready = meta::find(agent.status.conditions, "Ready");
  if (ready != nullptr && ready->observed_generation >= agent.meta.generation) return *ready;
  meta::Condition out{.type = "Ready", .status = meta::Truth::unknown, .reason = "Progressing"};
  out.message = ready == nullptr ? "the controller has not looked at it yet"
                                 : "the controller has not looked at its last change yet";
  return out;
}

std::vector<Problem> controller_problems(const ClusterFacts& facts, meta::Time now) {
  const ControllerFacts& controller = facts.controller;
  Problem out{.objects = {"iprule-controller"}};
  if (controller.is_absent()) {
    out.messages = {"it is not installed: nothing is published, and no agents are run"};
    out.next = "iprulectl doctor --preflight";
    return {out};
  }
  const std::string ns = controller.sets && !controller.sets->empty() ? controller.sets->front().ns : "";
  out.next = pods_of(ns, kControllerLabels);
  if (const auto why = why_nobody_publishes(controller, now)) {
    out.messages = {*why + ": changes are not published"};
    if (controller.leader && !controller.leader->holder.empty()) out.since = controller.leader->renewed;
    return {out};
  }
  if (controller.ready() >= controller.wanted()) return {};
  out.messages = {fmt::format("{}/{} ready", controller.ready(), controller.wanted())};
  return {out};
}

std::vector<Problem> agent_problems(const ClusterFacts& facts) {
  std::vector<Problem> out;
  if (facts.agents.empty() && facts.gaps.empty()) {
    out.push_back({.messages = {"no Agent object: no agents run"},
                   .objects = {"iprule-agent"},
                   .next = "kubectl apply -f config/samples/agent.yaml"});
  }
  for (const api::Agent& agent : facts.agents) {
    const meta::Condition ready = readiness(agent);
    if (ready.status == meta::Truth::yes) continue;
    Problem problem{.reason = ready.reason,
                    .messages = {ready.message},
                    .objects = {fmt::format("Agent/{}", agent.meta.name)},
                    .next = pods_of(agent.meta.ns, api::kAgentPodSelector)};
    if (ready.last_transition != meta::Time()) problem.since = ready.last_transition;
    out.push_back(std::move(problem));
  }
  return out;
}

}  // namespace cli
