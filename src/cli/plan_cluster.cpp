#include "cli/plan_cluster.h"

#include <map>

#include <fmt/format.h>

#include "agent/preview.h"
#include "api/kinds.h"
#include "cli/assignment.h"
#include "cli/examine_nodes.h"
#include "cli/gaps.h"
#include "cli/plan_page.h"
#include "json/writer.h"

namespace cli {
base::Result<Answer> plan_in_cluster(const ClusterObjects& objects, const agent::Manifests& changes,
                                     const std::vector<std::string>& nodes, bool full) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  ClusterObjects after = objects;
  after.wanted = laid_over(objects.wanted, changes);
  std::map<std::string, std::pair<std::vector<std::string>, agent::Preview>> groups;  // By what is to be done.
  for (const std::string& node : names) {
    const api::NodeState* report = report_of(objects, node);
    const state::NodeFacts facts = report != nullptr ? facts_of(report->status.facts) : state::NodeFacts();
    const state::Observation now =
        state::Verified{agent::wanted_on(objects.wanted, node, settings_on(objects, node), facts)};
    auto preview = agent::preview(after.wanted, node, settings_on(after, node), now, facts);
    std::string key = full ? node + "\n" : "";
    key += plan::text(preview.todo);
    for (const std::string& skipped : preview.skipped) key += skipped;
    auto& [members, story] = groups[key];
    members.push_back(node);
    story = std::move(preview);
  }

  Answer answer;
  std::size_t changing = 0;
  std::vector<std::pair<std::vector<std::string>, std::string>> documents;
  for (const auto& [key, group] : groups) {
    const auto& [members, preview] = group;
    Answer one = show_plan(preview.todo, {.title = names_text(members), .skipped = preview.skipped});
    if (!preview.todo.empty()) changing += members.size();
    if (!preview.todo.empty() || !preview.skipped.empty()) answer.page.append(one.page);
    documents.emplace_back(members, std::move(one.json));
  }
  answer.page.line("{} of {} nodes would change, as far as objects tell: no kernel was asked.", changing, names.size());
  if (changing > 0) answer.code = ExitCode::attention;
  add_gaps(answer, objects.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "ClusterPlan");
    out.array("groups", [&](json::Array& list) {
      for (const auto& [members, document] : documents) {
        list.object([&](json::Object& item) {
          item.array("nodes", [&](json::Array& own) {
            for (const std::string& member : members) own.put(member);
          });
          item.put_json("plan", document);
        });
      }
    });
    put_gaps(out, objects.gaps);
  });
  return answer;
}

}  // namespace cli
