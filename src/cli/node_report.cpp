#include "cli/node_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "cli/age.h"
#include "cli/drift.h"
#include "cli/examine_nodes.h"
#include "cli/gaps.h"
#include "cli/live_diff.h"
#include "json/writer.h"

namespace cli {
namespace {

// "from 10.96.23.17 lookup 100 priority 1000"
std::string words_of(const api::IPRuleConfig::Spec& spec) {
  return fmt::format("{} {} {} priority {}", api::names(spec.source_mode)[static_cast<std::size_t>(spec.source_mode)],
                     spec.service_ip,
                     spec.vrf.empty() ? fmt::format("table {}", api::table_of(spec)) : "vrf " + spec.vrf,
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

// What was found of the nodes that are meant, some by their kernels, some by their reports.
class Differences {
 public:
  // `reports_known`: a report that is not among the objects is not there.
  Differences(const ClusterObjects& objects, meta::Time now, bool reports_known)
      : objects_(objects), now_(now), reports_known_(reports_known) {}

  void add_kernel(const std::string& node, const Answer& diff) {
    ++asked_;
    if (diff.code == ExitCode::attention) ++differing_;
    if (diff.code == ExitCode::could_not_ask) {
      ++half_seen_;
      gaps_.push_back(fmt::format("the kernel of {}: not seen whole", node));
    }
    page_.append(diff.page);
    documents_.push_back(json::object([&](json::Object& item) {
      item.put("name", node);
      item.put("source", "kernel");
      item.put_json("diff", diff.json);
    }));
  }

  void miss_kernel(const std::string& node, const base::Error& error) {
    gaps_.push_back(fmt::format("the kernel of {}: {}", node, error.message()));
  }

  void add_report(const std::string& node, const api::NodeState* report) {
    if (report == nullptr && !reports_known_) {
      page_.put(node).put("  its report is not known", Tone::warning).end_line();
      return;
    }
    if (report == nullptr) {
      ++silent_;
      page_.put(node).put("  no report: no agent has run there", Tone::warning).end_line();
      return;
    }
    const auto open = open_on(objects_, *report);
    documents_.push_back(document(node, open));
    if (open.empty()) return;
    ++differing_;
    page_.line("{}  by its report{}    + wanted there    - to go from there", node, since_text(*report, now_));
    Table table(2);
    for (const Open& one : open) {
      table.row({{std::string(1, one.sign), one.sign == '+' ? Tone::good : Tone::bad}, one.object, one.what, one.why});
    }
    table.print(page_);
  }

  Answer answer(std::size_t nodes) && {
    Answer out{.page = std::move(page_), .json = {}, .code = ExitCode::fine};
    out.page.line("Diff: {} of {} nodes differ, {}{}.", differing_, nodes,
                  half_seen_ > 0 ? fmt::format("{} not seen whole, ", half_seen_) : "", sources(nodes));
    if (differing_ > 0 || silent_ > 0) out.code = ExitCode::attention;
    gaps_.insert(gaps_.end(), objects_.gaps.begin(), objects_.gaps.end());
    add_gaps(out, gaps_);
    out.json = json::object([&](json::Object& whole) {
      whole.put("apiVersion", api::kApiVersion);
      whole.put("kind", "ClusterDiff");
      whole.array("nodes", [&](json::Array& list) {
        for (const std::string& one : documents_) list.put_json(one);
      });
      put_gaps(whole, gaps_);
    });
    return out;
  }

 private:
  static std::string document(const std::string& node, const std::vector<Open>& open) {
    return json::object([&](json::Object& item) {
      item.put("name", node);
      item.put("source", "report");
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

  std::string sources(std::size_t nodes) const {
    if (asked_ == 0) return "as far as reports tell: no kernel was asked";
    if (asked_ == nodes) return "by their kernels, asked now";
    return fmt::format("by the kernels of {} and the reports of the others", asked_);
  }

  const ClusterObjects& objects_;
  meta::Time now_;
  bool reports_known_;
  Page page_;
  std::vector<std::string> documents_;
  std::vector<std::string> gaps_;
  std::size_t asked_ = 0;
  std::size_t differing_ = 0;
  std::size_t half_seen_ = 0;
  std::size_t silent_ = 0;
};

base::Result<Answer> differences(const ClusterObjects& objects, const std::vector<std::string>& nodes, meta::Time now,
                                 const AskNode& ask, bool reports_known, const DiffView& view = {}) {
  const auto names = TRY(chosen_nodes(objects, nodes));
  Differences found(objects, now, reports_known);
  for (const std::string& node : names) {
    const auto live = ask ? std::optional(ask_diff(objects, node, ask, view)) : std::nullopt;
    if (live && *live) {
      found.add_kernel(node, **live);
    } else {
      if (live) found.miss_kernel(node, live->error());
      found.add_report(node, report_of(objects, node));
    }
  }
  return std::move(found).answer(names.size());
}

}  // namespace

base::Result<Answer> diff_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                     meta::Time now, const AskNode& ask, const DiffView& view) {
  return differences(objects, nodes, now, ask, objects.gaps.empty(), view);
}

base::Result<Answer> explain_node(const ClusterObjects& objects, const std::string& node, meta::Time now,
                                  const AskNode& ask) {
  ClusterObjects known = objects;
  known.gaps.clear();  // Told once, at the end.
  const std::vector<std::string> only = {node};
  // A node that cannot be asked is not asked again, and told about once.
  bool reached = true;
  const AskNode once = [&](const std::string& name, const Question& question) {
    auto answer = ask(name, question);
    reached = reached && answer.has_value();
    return answer;
  };
  const bool is_whole = objects.gaps.empty();
  const Answer diff = TRY(differences(known, only, now, is_whole ? once : AskNode(), is_whole));
  const Answer examination = TRY(examine_nodes(known, only, reached ? once : AskNode()));
  const Answer drift = TRY(drift_in_cluster(known, {.nodes = only}, now));
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
