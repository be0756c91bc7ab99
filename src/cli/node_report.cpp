#include "cli/node_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "cli/age.h"
#include "cli/drift.h"
#include "cli/examine_nodes.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {
namespace {

// "from 10.96.23.17 lookup 100 priority 1000"
std::string words_of(const api::IPRuleConfig::Spec& spec) {
  return fmt::format(
      "{} {} {} priority {}", api::names(spec.source_mode)[static_cast<std::size_t>(spec.source_mode)], spec.service_ip,
      spec.vrf.empty() ? fmt::format("table {}", spec.table != 0 ? spec.table : spec.route_table) : "vrf " + spec.vrf,
      spec.priority == 0 ? "of the Agent" : fmt::to_string(spec.priority));
}

// One object that a node has not reported as done.
struct Open {
  char sign = '+';
  std::string object;
  std::string what;
  std::string why;
};

std::vector<Open> open_on(const ClusterObjects& objects, const api::NodeState& report) {
  std::uint64_t reach = 0;
  std::map<std::string, const api::NodeState::Failed*> failed;
  for (const auto& settled : report.status.settled) {
    if (settled.kind != api::IPRuleConfig::kKind) continue;
    if (report.status.token == report.spec.token) reach = static_cast<std::uint64_t>(settled.epoch);
    for (const auto& one : settled.failed) failed[one.uid] = &one;
  }
  std::vector<Open> out;
  for (const api::IPRuleConfig& config : objects.configs) {
    const auto failure = failed.find(config.meta.uid);
    if (failure == failed.end() && api::epoch(config) <= reach) continue;
    const bool present = config.spec.state == api::ConfigState::present && !config.meta.terminating();
    out.push_back({.sign = present ? '+' : '-',
                   .object = fmt::format("IPRuleConfig/{}", config.meta.name),
                   .what = words_of(config.spec),
                   .why = failure == failed.end()
                              ? "not reported yet"
                              : fmt::format("{}: {}", failure->second->reason, failure->second->message)});
  }
  return out;
}

std::string since_text(const api::NodeState& report, meta::Time now) {
  return report.status.changed == meta::Time() ? "" : fmt::format(", {} ago", age_text(now - report.status.changed));
}

}  // namespace

base::Result<Answer> diff_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                     meta::Time now) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  Answer answer;
  std::size_t differing = 0;
  std::size_t silent = 0;
  std::vector<std::pair<std::string, std::vector<Open>>> found;
  for (const std::string& node : names) {
    const api::NodeState* report = report_of(objects, node);
    if (report == nullptr) {
      ++silent;
      answer.page.put(node).put("  no report: no agent has run there", Tone::warning).end_line();
      continue;
    }
    found.emplace_back(node, open_on(objects, *report));
    const auto& open = found.back().second;
    if (open.empty()) continue;
    ++differing;
    answer.page.line("{}  by its report{}    + wanted there    - to go from there", node, since_text(*report, now));
    Table table(2);
    for (const Open& one : open) {
      table.row({{std::string(1, one.sign), one.sign == '+' ? Tone::good : Tone::bad}, one.object, one.what, one.why});
    }
    table.print(answer.page);
  }
  answer.page.line("Diff: {} of {} nodes differ, as far as reports tell: no kernel was asked.", differing,
                   names.size());
  if (differing > 0 || silent > 0) answer.code = ExitCode::attention;
  add_gaps(answer, objects.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "ClusterDiff");
    out.array("nodes", [&](json::Array& list) {
      for (const auto& [node, open] : found) {
        list.object([&](json::Object& item) {
          item.put("name", node);
          item.array("open", [&](json::Array& all) {
            for (const Open& one : open) {
              all.object([&](json::Object& entry) {
                entry.put("do", one.sign == '+' ? "add" : "delete");
                entry.put("object", one.object);
                entry.put("what", one.what);
                entry.put("why", one.why);
              });
            }
          });
        });
      }
    });
    put_gaps(out, objects.gaps);
  });
  return answer;
}

base::Result<Answer> explain_node(const ClusterObjects& objects, const std::string& node, meta::Time now,
                                  const AskNode& ask) {
  ClusterObjects known = objects;
  known.gaps.clear();  // Told once, at the end.
  const std::vector<std::string> only = {node};
  const Answer diff = TRY(diff_in_cluster(known, only, now));
  const Answer examination = TRY(examine_nodes(known, only, ask));
  const Answer drift = TRY(drift_in_cluster(known, only, now));
  Answer answer;
  for (const Answer* part : {&diff, &examination, &drift}) {
    answer.page.append(part->page);
    answer.code = std::max(answer.code, part->code);
  }
  add_gaps(answer, objects.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "NodeExplanation");
    out.put("node", node);
    out.put_json("diff", diff.json);
    out.put_json("examination", examination.json);
    out.put_json("drift", drift.json);
    put_gaps(out, objects.gaps);
  });
  return answer;
}

}  // namespace cli
