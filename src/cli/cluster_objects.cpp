#include "cli/cluster_objects.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_word.h"

namespace cli {
namespace {

// What the server sets, and an apply does not change. The age decides between IPRules that are alike in everything
// else, and what is new is younger than all that is there.
void keep_of_server(meta::Meta& change, const meta::Meta* there) {
  if (there == nullptr) {
    change.created = meta::Time::max();
    return;
  }
  change.uid = there->uid;
  change.created = there->created;
  change.generation = there->generation;
}

template <typename Kind>
void keep_addresses(Kind&, const Kind&) {}

// A manifest says nothing of the addresses that a Service was given; one that does is taken at its word.
void keep_addresses(api::Service& change, const api::Service& there) {
  if (change.cluster_ips.empty()) change.cluster_ips = there.cluster_ips;
  if (!change.vips.empty() || change.hostnames > 0) return;
  change.vips = there.vips;
  change.hostnames = there.hostnames;
  change.proxied_vips = there.proxied_vips;
}

template <typename Kind>
void lay_over(std::vector<Kind>& objects, const std::vector<Kind>& changes) {
  for (const Kind& change : changes) {
    const auto same = std::ranges::find_if(objects, [&](const Kind& object) {
      return object.meta.name == change.meta.name && object.meta.ns == change.meta.ns;
    });
    Kind applied = change;
    keep_of_server(applied.meta, same != objects.end() ? &same->meta : nullptr);
    if (same == objects.end()) {
      objects.push_back(std::move(applied));
    } else {
      keep_addresses(applied, *same);
      *same = std::move(applied);
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
