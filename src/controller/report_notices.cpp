#include "controller/report_notices.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "controller/note.h"
#include "intent/cluster/acknowledgement.h"
#include "meta/condition.h"

namespace controller {
namespace {

using kube::NoticeType;

// A condition of a report that is a trouble while it is True.
struct Trouble {
  std::string_view condition;
  std::string_view reason;  // Of the Event.
  std::string_view next;    // What to do, after the agent's own words.
  std::string_view code;
};
constexpr std::string_view kDrifting = "Drifting";
constexpr std::array<Trouble, 3> kTroubles = {{
    {.condition = kDrifting,
     .reason = "DriftRepeating",
     .next = "iprulectl explain IPR0314 tells how to find out who it is",
     .code = "IPR0314"},
    {.condition = "Clashing",
     .reason = "JobsClash",
     .next = "iprulectl explain IPR0105 tells which of the two decides",
     .code = "IPR0105"},
    {.condition = "ForeignRules",
     .reason = "DriftForeign",
     .next = "to leave a rule alone, narrow spec.foreignRules of the Agent",
     .code = ""},
}};

kube::Notice about(const api::NodeState& report, const api::Node* node, NoticeType type, std::string_view reason,
                   Note note) {
  kube::Notice out{.regarding = {.api_version = std::string(api::kApiVersion),
                                 .kind = std::string(api::NodeState::kKind),
                                 .ns = {},
                                 .name = report.meta.name,
                                 .uid = report.meta.uid},
                   .related = kube::ObjectReference{.api_version = "v1",
                                                    .kind = "Node",
                                                    .ns = {},
                                                    .name = report.meta.name,
                                                    .uid = node != nullptr ? node->meta.uid : ""},
                   .type = type,
                   .reason = std::string(reason),
                   .action = "Report",
                   .note = {}};
  note.said = fmt::format("{}: {}", report.meta.name, note.said);
  note.epoch = intent::stated_epoch(report);
  out.note = note.text();
  return out;
}

}  // namespace

std::vector<kube::Notice> ReportNotices::news(std::span<const api::NodeState* const> reports,
                                              std::span<const api::Node* const> nodes) {
  std::vector<kube::Notice> out;
  std::map<std::string, Told> told;
  for (const api::NodeState* report : reports) {
    const auto known = told_.find(report->meta.uid);
    const auto tell = [&](NoticeType type, std::string_view reason, Note note) {
      const auto name_of = [](const api::Node* one) -> std::string_view { return one->meta.name; };
      const auto node = std::ranges::find(nodes, report->meta.name, name_of);
      out.push_back(about(*report, node != nodes.end() ? *node : nullptr, type, reason, std::move(note)));
    };
    for (const Trouble& trouble : kTroubles) {
      const auto* condition = meta::find(report->status.conditions, trouble.condition);
      const bool was_there = known != told_.end() && known->second.contains(trouble.condition);
      if (condition != nullptr && condition->status == meta::Truth::yes) {
        const bool is_same = was_there && known->second.at(trouble.condition) == condition->message;
        if (!is_same) {
          tell(NoticeType::warning, trouble.reason,
               {.said = condition->message, .next = std::string(trouble.next), .code = std::string(trouble.code)});
        }
        told[report->meta.uid][trouble.condition] = condition->message;
      } else if (was_there && trouble.condition == kDrifting) {
        tell(NoticeType::normal, "DriftRepaired",
             {.said = "our rules are as published, and nobody has changed them again for a minute",
              .next = "nothing is left to do; iprulectl drift tells if it comes back"});
      }
    }
  }
  told_ = std::move(told);
  return out;
}

}  // namespace controller
