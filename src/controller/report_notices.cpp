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

// A condition of a report that is a trouble while it has this status.
struct Trouble {
  std::string_view condition;
  meta::Truth when = meta::Truth::yes;
  std::string_view reason;  // Of the Event.
  std::string_view next;    // What to do, after the agent's own words.
  std::string_view code;
};
constexpr std::string_view kDrifting = "Drifting";
constexpr std::string_view kSynced = "Synced";
constexpr std::array<Trouble, 6> kTroubles = {{
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
    {.condition = "Warnings",
     .reason = "NodeWarnings",
     .next = "what is named is programmed all the same; change its IPRule",
     .code = ""},
    {.condition = "BaselineMissing",
     .reason = "BaselineMissing",
     .next = "iprulectl doctor tells what the node looks up now",
     .code = ""},
    {.condition = kSynced,
     .when = meta::Truth::no,
     .reason = "NotSynced",
     .next = "what the node holds stays as it is; look at the log of the agent's pod there",
     .code = ""},
}};

bool is_trouble(const Trouble& trouble, const meta::Condition* condition) {
  // An object that fails is told on that object.
  constexpr std::array<std::string_view, 4> kBlind = {"NotPermitted", "KernelUnreadable", "NoAccess", "Stale"};
  if (condition == nullptr || condition->status != trouble.when) return false;
  return trouble.condition != kSynced || std::ranges::find(kBlind, condition->reason) != kBlind.end();
}

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
      if (is_trouble(trouble, condition)) {
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
