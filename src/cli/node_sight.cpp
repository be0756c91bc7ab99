#include "cli/node_sight.h"

#include "cli/examine_nodes.h"
#include "meta/condition.h"

namespace cli {

state::NodeFacts reported_facts(const api::NodeState& report) {
  state::NodeFacts out = facts_of(report.status.facts);
  for (const auto& empty : report.status.empty_tables) {
    out.tables.push_back(
        {.table = empty.table, .family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6});
  }
  return out;
}

std::vector<NodeSight> sights_in(const ClusterObjects& objects) {
  std::vector<NodeSight> out;
  for (const api::Node& node : objects.wanted.nodes) {
    const api::NodeState* report = report_of(objects, node.meta.name);
    if (report == nullptr) continue;
    NodeSight sight{.name = node.meta.name,
                    .labels = node.meta.labels,
                    .facts = reported_facts(*report),
                    .marks = report->status.dataplane == api::Backend::marks};
    const meta::Condition* clashing = meta::find(report->status.conditions, "Clashing");
    if (clashing != nullptr && clashing->status == meta::Truth::yes) sight.clash = clashing->message;
    out.push_back(std::move(sight));
  }
  return out;
}

}  // namespace cli
