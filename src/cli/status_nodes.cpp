#include "cli/status_nodes.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/age.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {
namespace {

template <typename Enum>
std::string_view word(Enum value) {
  return names(value)[static_cast<std::size_t>(value)];
}

std::string or_dash(std::string_view text) {
  return text.empty() ? "-" : std::string(text);
}

std::string problem_of(const api::NodeState::Status& status) {
  const auto counts = status.counts.value_or(api::NodeCounts());
  std::string out;
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  if (counts.failures > 0) add(fmt::format("{} failed", counts.failures));
  if (counts.clashes > 0) add(fmt::format("{} beside others'", counts.clashes));
  for (const auto& empty : status.empty_tables)
    add(fmt::format("table {} has no {} route", empty.table, word(empty.family)));
  return or_dash(out);
}

std::string document(const api::NodeState& node) {
  const api::NodeState::Status& status = node.status;
  return json::object([&](json::Object& out) {
    out.put("name", node.meta.name);
    out.put("sync", word(status.sync));
    out.put("dataplane", word(status.dataplane));
    if (status.counts) {
      out.put("rules", status.counts->rules);
      out.put("sources", status.counts->sources);
      out.put("failures", status.counts->failures);
      out.put("clashes", status.counts->clashes);
    }
    if (status.changed != meta::Time()) out.put("changed", meta::format_time(status.changed));
    out.put("version", status.version);
    out.put("kernel", status.facts.kernel);
    out.put("serviceProxy", word(status.facts.service_proxy));
  });
}

Listing::Row row_of(const api::NodeState& node, meta::Time now) {
  const api::NodeState::Status& status = node.status;
  const bool good = status.sync == api::Sync::in_sync;
  const auto count = [&](std::int32_t number) { return status.counts ? fmt::to_string(number) : "-"; };
  const auto counts = status.counts.value_or(api::NodeCounts());
  return {.name = "node/" + node.meta.name,
          .cells = {node.meta.name,
                    {or_dash(word(status.sync)), good ? Tone::good : Tone::bad},
                    or_dash(word(status.dataplane)),
                    count(counts.rules),
                    count(counts.sources),
                    status.changed == meta::Time() ? "-" : age_text(now - status.changed),
                    or_dash(status.version),
                    problem_of(status),
                    or_dash(status.facts.kernel),
                    or_dash(word(status.facts.service_proxy))},
          .json = document(node)};
}

Listing::Row silent_row(const std::string& node) {
  return {.name = "node/" + node,
          .cells = {node, {"no report", Tone::warning}, "-", "-", "-", "-", "-", "no agent has run there", "-", "-"},
          .json = json::object([&](json::Object& out) { out.put("name", node); })};
}

}  // namespace

base::Result<Answer> show_nodes(const ClusterFacts& facts, const std::vector<std::string>& nodes, meta::Time now,
                                const ListStyle& style) {
  std::map<std::string, const api::NodeState*> reports;
  for (const api::NodeState& node : facts.nodes) {
    if (nodes.empty() || std::ranges::find(nodes, node.meta.name) != nodes.end()) reports[node.meta.name] = &node;
  }
  for (const std::string& node : nodes) reports.try_emplace(node, nullptr);

  Listing listing({{"NODE"},
                   {"SYNC"},
                   {"DATAPLANE"},
                   {"RULES"},
                   {"SOURCES"},
                   {"SINCE"},
                   {"VERSION"},
                   {"PROBLEM"},
                   {"KERNEL", true},
                   {"PROXY", true}});
  std::size_t synced = 0;
  for (const auto& [name, report] : reports) {
    if (report != nullptr && report->status.sync == api::Sync::in_sync) ++synced;
    listing.row(report != nullptr ? row_of(*report, now) : silent_row(name));
  }
  if (!style.sort_by.empty()) TRY(listing.sort(style.sort_by));

  Answer answer{.page = {}, .json = {}, .code = synced == reports.size() ? ExitCode::fine : ExitCode::attention};
  listing.print(answer.page, style);
  if (style.headers) answer.page.line("{} of {} nodes in sync.", synced, reports.size());
  add_gaps(answer, facts.gaps);
  answer.names = listing.names();
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "NodeStatusList");
    out.array("items", [&](json::Array& items) { listing.put(items); });
    put_gaps(out, facts.gaps);
  });
  return answer;
}

}  // namespace cli
