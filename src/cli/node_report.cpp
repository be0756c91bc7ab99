#include "cli/node_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "cli/age.h"
#include "cli/doctor.h"
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

void add_gaps(Answer& answer, const ClusterObjects& objects) {
  for (const std::string& gap : objects.gaps) answer.page.put("Not asked: ", Tone::warning).put(gap).end_line();
  if (!objects.gaps.empty()) answer.code = ExitCode::could_not_ask;
}

void put_gaps(json::Object& out, const ClusterObjects& objects) {
  out.array("notAsked", [&](json::Array& list) {
    for (const std::string& gap : objects.gaps) list.put(gap);
  });
}

std::string since_text(const api::NodeState& report, meta::Time now) {
  return report.status.changed == meta::Time() ? "" : fmt::format(", {} ago", age_text(now - report.status.changed));
}

}  // namespace

state::NodeFacts facts_of(const api::NodeState::Facts& facts) {
  state::NodeFacts out{.kernel = facts.kernel};
  out.service_proxy = static_cast<state::ServiceProxy>(facts.service_proxy);
  out.conntrack = facts.conntrack;
  if (facts.local_rule_priority) out.local_rule_priority = static_cast<std::uint32_t>(*facts.local_rule_priority);
  for (const auto& filter : facts.reverse_path_filter) {
    if (auto device = net::InterfaceName::parse(filter.device)) out.reverse_path_filter.emplace(*device, filter.value);
  }
  return out;
}

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
  add_gaps(answer, objects);
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
    put_gaps(out, objects);
  });
  return answer;
}

base::Result<Answer> examine_nodes(const ClusterObjects& objects, const std::vector<std::string>& nodes) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  std::map<std::string, std::pair<std::vector<std::string>, Answer>> groups;  // Nodes that show the same, by its text.
  Answer answer;
  for (const std::string& node : names) {
    const api::NodeState* report = report_of(objects, node);
    if (report == nullptr) {
      answer.page.put(node).put("  no report: run `iprulectl doctor --local` there", Tone::warning).end_line();
      answer.code = ExitCode::attention;
      continue;
    }
    state::NodeFacts facts = facts_of(report->status.facts);
    for (const auto& empty : report->status.empty_tables) {
      facts.tables.push_back(
          {.table = empty.table, .family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6});
    }
    Answer shown = show_reported_facts(facts);
    auto& [members, story] = groups[shown.json];
    members.push_back(node);
    story = std::move(shown);
  }
  for (const auto& [key, group] : groups) {
    answer.page.line("{}, by what its agent reported", names_text(group.first));
    answer.page.append(group.second.page);
    if (group.second.code != ExitCode::fine) answer.code = ExitCode::attention;
  }
  add_gaps(answer, objects);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "ClusterExamination");
    out.array("groups", [&](json::Array& list) {
      for (const auto& [key, group] : groups) {
        list.object([&](json::Object& item) {
          item.array("nodes", [&](json::Array& own) {
            for (const std::string& member : group.first) own.put(member);
          });
          item.put_json("examination", group.second.json);
        });
      }
    });
    put_gaps(out, objects);
  });
  return answer;
}

base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                      meta::Time now) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  constexpr std::array<std::string_view, 2> kTypes = {"Drifting", "Clashing"};
  Answer answer;
  Table table;
  table.row({"NODE", "SINCE", "WHAT", "DETAIL"});
  std::vector<std::pair<std::string, meta::Condition>> found;
  std::set<std::string> drifting;
  for (const std::string& node : names) {
    const api::NodeState* report = report_of(objects, node);
    for (const std::string_view type : kTypes) {
      const auto* condition = report != nullptr ? meta::find(report->status.conditions, type) : nullptr;
      if (condition == nullptr || condition->status != meta::Truth::yes) continue;
      found.emplace_back(node, *condition);
      drifting.insert(node);
      table.row({node, age_text(now - condition->last_transition), condition->reason, condition->message});
    }
  }
  if (!found.empty()) table.print(answer.page);
  answer.page.line("{} of {} nodes report that others change what is ours, or stand beside it.", drifting.size(),
                   names.size());
  if (!found.empty()) answer.code = ExitCode::attention;
  add_gaps(answer, objects);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "DriftReport");
    out.array("drift", [&](json::Array& list) {
      for (const auto& [node, condition] : found) {
        list.object([&](json::Object& item) {
          item.put("node", node);
          item.put("type", condition.type);
          item.put("reason", condition.reason);
          item.put("message", condition.message);
          item.put("since", meta::format_time(condition.last_transition));
        });
      }
    });
    put_gaps(out, objects);
  });
  return answer;
}

}  // namespace cli
