#include "cli/drift.h"

#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/age.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {

base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                      meta::Time now, std::optional<std::chrono::seconds> since) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  constexpr std::array<std::string_view, 2> kTypes = {"Drifting", "Clashing"};
  Answer answer;
  Table table;
  table.row({"NODE", "SINCE", "NOW", "WHAT", "DETAIL"});
  std::vector<std::pair<std::string, meta::Condition>> found;
  std::set<std::string> drifting;
  for (const std::string& node : names) {
    const api::NodeState* report = report_of(objects, node);
    for (const std::string_view type : kTypes) {
      const auto* condition = report != nullptr ? meta::find(report->status.conditions, type) : nullptr;
      if (condition == nullptr) continue;
      const bool now_true = condition->status == meta::Truth::yes;
      const bool is_recent = since && now - condition->last_transition <= *since;
      if (since ? !is_recent : !now_true) continue;
      found.emplace_back(node, *condition);
      if (now_true) drifting.insert(node);
      table.row({node, age_text(now - condition->last_transition),
                 now_true ? Table::Cell("goes on", Tone::bad) : Table::Cell("over", Tone::good), condition->reason,
                 condition->message});
    }
  }
  if (!found.empty()) table.print(answer.page);
  answer.page.line("{} of {} nodes report that others change what is ours, or stand beside it{}.", drifting.size(),
                   names.size(), since ? fmt::format(", begun within {}", age_text(*since)) : "");
  if (!drifting.empty()) answer.code = ExitCode::attention;
  add_gaps(answer, objects.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "DriftReport");
    out.array("drift", [&](json::Array& list) {
      for (const auto& [node, condition] : found) {
        list.object([&](json::Object& item) {
          item.put("node", node);
          item.put("type", condition.type);
          item.put("goesOn", condition.status == meta::Truth::yes);
          item.put("reason", condition.reason);
          item.put("message", condition.message);
          item.put("since", meta::format_time(condition.last_transition));
        });
      }
    });
    put_gaps(out, objects.gaps);
  });
  return answer;
}

}  // namespace cli
