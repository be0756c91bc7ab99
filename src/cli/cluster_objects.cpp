#include "cli/cluster_objects.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest_word.h"

namespace cli {
namespace {

template <typename Kind>
void lay_over(std::vector<Kind>& objects, const std::vector<Kind>& changes) {
  for (const Kind& change : changes) {
    const auto same = std::ranges::find_if(objects, [&](const Kind& object) {
      return object.meta.name == change.meta.name && object.meta.ns == change.meta.ns;
    });
    if (same == objects.end()) {
      objects.push_back(change);
    } else {
      *same = change;
    }
  }
}

}  // namespace

agent::Manifests laid_over(agent::Manifests objects, const agent::Manifests& changes) {
  lay_over(objects.rules, changes.rules);
  lay_over(objects.services, changes.services);
  lay_over(objects.slices, changes.slices);
  lay_over(objects.nodes, changes.nodes);
  lay_over(objects.agents, changes.agents);
  return objects;
}

base::Result<std::vector<std::string>> chosen_nodes(const ClusterObjects& objects,
                                                    const std::vector<std::string>& nodes) {
  std::vector<std::string> all;
  for (const api::Node& node : objects.wanted.nodes) all.push_back(node.meta.name);
  // Where nodes could not be listed, nobody knows better than the person who names one.
  if (all.empty() && !objects.gaps.empty()) return nodes;
  std::ranges::sort(all);
  for (const std::string& node : nodes) {
    if (std::ranges::binary_search(all, node)) continue;
    const std::string nearest = base::nearest_word(node, all);
    return base::fail(base::Fault::invalid,
                      fmt::format("--node: there is no node \"{}\"{}", node,
                                  nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest)));
  }
  return nodes.empty() ? all : nodes;
}

const api::NodeState* report_of(const ClusterObjects& objects, const std::string& node) {
  const auto named = [&](const api::NodeState& report) { return report.meta.name == node; };
  const auto found = std::ranges::find_if(objects.reports, named);
  return found != objects.reports.end() ? &*found : nullptr;
}

std::string names_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t kNamed = 5;
  if (nodes.size() == 1) return nodes.front();
  if (nodes.size() <= kNamed) return fmt::format("{} ({} alike)", fmt::join(nodes, ", "), nodes.size());
  return fmt::format("{} to {} ({} alike)", nodes.front(), nodes.back(), nodes.size());
}

}  // namespace cli
