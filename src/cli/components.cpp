#include "cli/components.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/component_problems.h"

namespace cli {
namespace {

std::string joined(const std::set<std::string>& words) {
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, ", "));
}

Component controller_of(const ControllerFacts& facts, meta::Time now) {
  Component out{.name = "iprule-controller", .is_good = {}, .ready = "-", .version = "-", .detail = {}};
  std::set<std::string> versions;
  for (const ControllerSet& set : facts.sets.value_or(std::vector<ControllerSet>())) {
    if (!set.version.empty()) versions.insert(set.version);
  }
  out.version = joined(versions);
  if (facts.sets && !facts.sets->empty()) out.ready = fmt::format("{}/{}", facts.ready(), facts.wanted());
  const auto why = why_nobody_publishes(facts, now);
  const bool leads = facts.leader && !facts.leader->holder.empty();
  if (why || leads || facts.is_known()) out.is_good = !why && facts.ready() >= facts.wanted();
  out.detail = leads         ? "leader " + facts.leader->holder
               : why         ? *why
               : out.is_good ? "works alone, without a Lease"
                             : "who leads could not be asked";
  return out;
}

// "auto -> rules", "auto -> rules on 2, marks on 3"
std::string dataplane_of(const api::Agent& agent, const std::vector<api::NodeState>& nodes) {
  std::map<api::Backend, std::size_t> in_force;
  for (const api::NodeState& node : nodes) {
    if (node.status.dataplane != api::Backend::unknown) ++in_force[node.status.dataplane];
  }
  std::string out(names(agent.spec.dataplane)[static_cast<std::size_t>(agent.spec.dataplane)]);
  for (const auto& [backend, count] : in_force) {
    out += fmt::format("{}{}", backend == in_force.begin()->first ? " -> " : ", ",
                       names(backend)[static_cast<std::size_t>(backend)]);
    if (in_force.size() > 1) out += fmt::format(" on {}", count);
  }
  return out;
}

std::vector<Component> agents_of(const ClusterFacts& facts) {
  Component none{.name = "iprule-agent", .is_good = false, .ready = "0/0", .version = "-", .detail = {}};
  none.detail = "no Agent object: no agents run";
  if (facts.agents.empty() && !facts.gaps.empty()) {
    none = {.name = "iprule-agent", .is_good = {}, .ready = "-", .version = "-", .detail = "could not be asked"};
  }
  if (facts.agents.empty()) return {none};

  std::set<std::string> versions;
  for (const api::NodeState& node : facts.nodes) {
    if (!node.status.version.empty()) versions.insert(node.status.version);
  }
  std::vector<Component> out;
  for (const api::Agent& agent : facts.agents) {
    const meta::Condition ready = readiness(agent);
    out.push_back({.name = "iprule-agent",
                   .is_good = ready.status == meta::Truth::yes,
                   .ready = fmt::format("{}/{}", agent.status.ready, agent.status.desired),
                   .version = joined(versions),
                   .detail = fmt::format("Agent/{} {}, dataplane {}", agent.meta.name, ready.reason,
                                         dataplane_of(agent, facts.nodes))});
  }
  return out;
}

}  // namespace

Table::Cell light_of(std::optional<bool> is_good) {
  if (!is_good) return {"?", Tone::warning};
  return *is_good ? Table::Cell("ok", Tone::good) : Table::Cell("!!", Tone::bad);
}

std::vector<Component> components_of(const ClusterFacts& facts, meta::Time now) {
  std::vector<Component> out = {controller_of(facts.controller, now)};
  for (Component& agent : agents_of(facts)) out.push_back(std::move(agent));
  return out;
}

Table table_of(const std::vector<Component>& components) {
  Table table(2);
  table.row({"", "COMPONENT", "READY", "VERSION", "DETAIL"});
  for (const Component& one : components) {
    table.row({light_of(one.is_good), one.name, one.ready, one.version, one.detail});
  }
  return table;
}

void put(json::Array& list, const Component& component) {
  list.object([&](json::Object& item) {
    item.put("name", component.name);
    if (component.is_good) item.put("healthy", *component.is_good);
    item.put("ready", component.ready);
    item.put("version", component.version);
    item.put("detail", component.detail);
  });
}

}  // namespace cli
