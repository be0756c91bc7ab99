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

// What is known of the one who reports: `why_dead` is empty where it lives, or where that could not be asked.
struct Reporter {
  const AgentRun* run = nullptr;
  std::string why_dead{};
};

void put_dead(json::Object& out, const Reporter& reporter) {
  if (reporter.why_dead.empty()) return;
  out.put("agentRuns", false);
  out.put("why", reporter.why_dead);
}

std::string document(const api::NodeState& node, const Reporter& reporter) {
  const api::NodeState::Status& status = node.status;
  return json::object([&](json::Object& out) {
    out.put("name", node.meta.name);
    put_dead(out, reporter);
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

// A report stays when its writer is gone: what it says then was so once, and nobody knows whether it still is.
Listing::Row row_of(const api::NodeState& node, const Reporter& reporter, meta::Time now) {
  const api::NodeState::Status& status = node.status;
  const bool is_dead = !reporter.why_dead.empty();
  const bool good = status.sync == api::Sync::in_sync && !is_dead;
  const auto count = [&](std::int32_t number) { return status.counts ? fmt::to_string(number) : "-"; };
  const auto counts = status.counts.value_or(api::NodeCounts());
  return {.name = "node/" + node.meta.name,
          .cells = {node.meta.name,
                    {is_dead ? "UNKNOWN" : or_dash(word(status.sync)), good ? Tone::good : Tone::bad},
                    or_dash(word(status.dataplane)),
                    count(counts.rules),
                    count(counts.sources),
                    status.changed == meta::Time() ? "-" : age_text(now - status.changed),
                    or_dash(status.version),
                    is_dead ? reporter.why_dead : problem_of(status),
                    or_dash(status.facts.kernel),
                    or_dash(word(status.facts.service_proxy))},
          .json = document(node, reporter)};
}

Listing::Row silent_row(const std::string& node, const Reporter& reporter) {
  const std::string why = !reporter.why_dead.empty() ? reporter.why_dead
                          : reporter.run != nullptr  ? "its agent has not reported yet"
                                                     : "no agent has run there";
  return {.name = "node/" + node,
          .cells = {node, {"no report", Tone::warning}, "-", "-", "-", "-", "-", why, "-", "-"},
          .json = json::object([&](json::Object& out) {
            out.put("name", node);
            put_dead(out, reporter);
          })};
}

// By their pods, where these could be listed.
class Reporters {
 public:
  explicit Reporters(const ClusterFacts& facts)
      : are_known_(facts.runs.has_value()), runs_(runs_by_node(facts.runs.value_or(std::vector<AgentRun>()))) {}

  Reporter of(const std::string& node) const {
    const auto found = runs_.find(node);
    Reporter out{.run = found != runs_.end() ? &found->second : nullptr};
    if (are_known_ && (out.run == nullptr || !out.run->runs())) out.why_dead = why_it_does_not_run(out.run);
    return out;
  }

 private:
  bool are_known_;
  std::map<std::string, AgentRun> runs_;
};

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
  const Reporters reporters(facts);
  const auto living = living_nodes(facts);
  std::size_t synced = 0;
  for (const auto& [name, report] : reports) {
    if (report != nullptr && is_in_sync(*report, living)) ++synced;
    listing.row(report != nullptr ? row_of(*report, reporters.of(name), now) : silent_row(name, reporters.of(name)));
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
