#include "controller/notices.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "controller/note.h"
#include "intent/cluster/config_status.h"
#include "intent/cluster/finding_codes.h"
#include "state/rule.h"

namespace controller {
namespace {

using Step = intent::Write::Step;
using kube::NoticeType;

template <typename Kind>
kube::Notice about(const Kind& object, NoticeType type, std::string reason, const Note& note) {
  return {.regarding = {.api_version = std::string(api::kApiVersion),
                        .kind = std::string(Kind::kKind),
                        .ns = object.meta.ns,
                        .name = object.meta.name,
                        .uid = object.meta.uid},
          .type = type,
          .reason = std::move(reason),
          .action = "Reconcile",
          .note = note.text()};
}

kube::Notice about_service(const api::Service& service, NoticeType type, std::string reason, const Note& note) {
  return {.regarding = {.api_version = "v1",
                        .kind = "Service",
                        .ns = service.meta.ns,
                        .name = service.meta.name,
                        .uid = service.meta.uid},
          .type = type,
          .reason = std::move(reason),
          .action = "Reconcile",
          .note = note.text()};
}

// The condition, where it says something else than before.
const meta::Condition* news(const std::vector<meta::Condition>& before, const std::vector<meta::Condition>& after,
                            std::string_view type) {
  const auto* now = meta::find(after, type);
  const auto* old = meta::find(before, type);
  if (now == nullptr) return nullptr;
  const bool is_same = old != nullptr && old->status == now->status && old->reason == now->reason;
  return is_same ? nullptr : now;
}

struct FindingWords {
  std::string_view reason;
  std::string_view code;
};

FindingWords words_of(intent::ServiceFinding::Reason reason) {
  using Reason = intent::ServiceFinding::Reason;
  switch (reason) {
    case Reason::no_cluster_ip:
      return {.reason = "NoClusterIP", .code = "IPR0204"};
    case Reason::hostname_only_ingress:
      return {.reason = "HostnameOnlyIngress", .code = "IPR0203"};
    case Reason::family_mismatch:
      return {.reason = "FamilyMismatch", .code = "IPR0204"};
    case Reason::priority_conflict:
      return {.reason = "PriorityConflict", .code = "IPR0101"};
    case Reason::proxied_address:
      return {.reason = "ProxiedAddress", .code = "IPR0206"};
  }
  return {.reason = "ProxiedAddress", .code = "IPR0206"};
}

// A rule that some node could not add: the node that comes first is the one it is related to.
kube::Notice add_failed(const api::IPRuleConfig& config, const meta::Condition& applied) {
  const auto& nodes = config.status.nodes;
  const std::string_view first = nodes.empty() ? "" : std::string_view(nodes.front().node);
  Note note{.said = applied.message,
            .next = fmt::format("it is tried again by itself; kubectl get nodestate {} -o yaml has the kernel's words",
                                first.empty() ? "NODE" : first),
            .code = std::string(nodes.empty() ? "" : intent::finding_code(nodes.front().reason)),
            .epoch = api::epoch(config)};
  auto out = about(config, NoticeType::warning, "RuleAddFailed", note);
  if (!first.empty()) {
    out.related = {.api_version = "v1", .kind = "Node", .ns = "", .name = std::string(first), .uid = ""};
  }
  return out;
}

std::string target_of(std::uint32_t table, const std::string& vrf) {
  return vrf.empty() ? fmt::format("table {}", table) : "VRF " + vrf;
}

// What a withdrawn object had asked for, and whether its source is steered all the same.
std::string why_withdrawn(const intent::Write& write) {
  const api::IPRuleConfig::Spec& spec = write.object.spec;
  if (!write.is_replaced) return fmt::format("no Service and IPRule ask for {} any more", spec.service_ip);
  const std::string priority = spec.priority != 0 ? fmt::format("priority {}", spec.priority) : "the default priority";
  const std::string nodes = spec.node_selector.empty() ? "" : " on nodes with " + spec.node_selector.text();
  return fmt::format("{} to {} at {}{} is no longer asked for; another object steers that source", spec.service_ip,
                     target_of(api::table_of(spec), spec.vrf), priority, nodes);
}

}  // namespace

std::optional<kube::Notice> notice_of(const intent::Write& write, const std::vector<std::string>& missing) {
  if (write.step == Step::withdraw) {
    return about(write.object, NoticeType::normal, "MarkedAbsent",
                 {.said = why_withdrawn(write) + ": nodes remove the rule, and this object goes when the last one has",
                  .next = "kubectl get nodestates shows how far they are"});
  }
  if (write.step == Step::remove && !missing.empty()) {
    return about(
        write.object, NoticeType::warning, "CleanupTimeout",
        {.said = fmt::format("not waited for any longer: {}. What they still hold goes when their agent starts",
                             intent::some_of(missing, intent::kMostMissing)),
         .next = "look at the agent's pod there, or delete the Node if it is gone for good",
         .epoch = api::epoch(write.object)});
  }
  if (write.is_drift) {
    return about(write.object, NoticeType::normal, "DriftRepaired",
                 {.said = "changed by hand, and put back: the controller makes this object",
                  .next = "change the IPRule that owns it"});
  }
  return std::nullopt;
}

std::vector<kube::Notice> notices_of(const intent::ConfigStatusWrite& write, const api::IPRuleConfig::Status& before) {
  std::vector<kube::Notice> out;
  const auto& after = write.object.status.conditions;
  const auto* applied = news(before.conditions, after, "Applied");
  if (applied != nullptr && applied->reason == "NodesFailing") out.push_back(add_failed(write.object, *applied));
  const auto* cleaned = news(before.conditions, after, "CleanedUp");
  if (cleaned != nullptr && cleaned->reason == "NodesFailing") {
    out.push_back(about(write.object, NoticeType::warning, "RuleDeleteFailed",
                        {.said = cleaned->message, .epoch = api::epoch(write.object)}));
  }
  if (write.wanted == nullptr) return out;
  const intent::Tuple& tuple = write.wanted->tuple;
  const std::string target = target_of(tuple.table, tuple.vrf);
  for (const api::Service* service : write.wanted->services) {
    out.push_back(about_service(
        *service, NoticeType::normal, "RuleProgrammed",
        {.said =
             fmt::format("replies with source {} ({}) go to {} at priority {}, {} (IPRule {})", tuple.source.text(),
                         api::text(tuple.mode), target, tuple.priority,
                         applied != nullptr ? applied->message : "in force", write.wanted->owners.front()->meta.name),
         .next = fmt::format("iprulectl explain svc/{} -n {} shows the way of its replies", service->meta.name,
                             service->meta.ns),
         .epoch = api::epoch(write.object)}));
  }
  return out;
}

std::vector<kube::Notice> notices_of(const intent::RuleStatusWrite& write, std::uint32_t default_priority) {
  std::vector<kube::Notice> out;
  const api::IPRule& rule = write.object;
  const auto& before = write.before->status;
  const auto& after = rule.status.conditions;
  const bool is_new_spec = before.observed_generation != rule.meta.generation;
  const auto* accepted = meta::find(after, "Accepted");
  if (accepted != nullptr && accepted->reason != "Valid" &&
      (is_new_spec || news(before.conditions, after, "Accepted") != nullptr)) {
    out.push_back(about(rule, NoticeType::warning, "InvalidSpec",
                        {.said = accepted->message,
                         .next = fmt::format("correct it: kubectl edit iprule {}", rule.meta.name),
                         .code = std::string(intent::finding_code(accepted->reason))}));
  }
  if (const auto* programmed = news(before.conditions, after, "Programmed");
      programmed != nullptr && programmed->reason == "NoMatch" && accepted != nullptr &&
      accepted->status == meta::Truth::yes) {
    out.push_back(about(rule, NoticeType::normal, "NoMatch", {.said = programmed->message}));
  }
  if (const auto* effect = news(before.conditions, after, "Effective");
      effect != nullptr && effect->reason == "SourceNeverSeen") {
    out.push_back(about(rule, NoticeType::warning, "SourceModeHint",
                        {.said = effect->message,
                         .next = "iprulectl doctor shows what each node's data path lets through",
                         .code = std::string(intent::finding_code(effect->reason))}));
  }
  if (!is_new_spec) return out;
  const std::uint32_t priority =
      intent::effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), default_priority);
  if (priority >= state::kPriorityMain) {
    out.push_back(about(
        rule, NoticeType::warning, "PriorityAfterMain",
        {.said = fmt::format("priority {} comes after the main table, so its default route answers first", priority),
         .next = "set spec.priority to 32765 or less",
         .code = std::string(intent::finding_code("PriorityAfterMain"))}));
  }
  if (rule.spec.table >= state::kTableDefault && rule.spec.table <= state::kTableLocal) {
    out.push_back(
        about(rule, NoticeType::warning, "ReservedTable",
              {.said = fmt::format("table {} is one of the kernel's own (default, main, local)", rule.spec.table),
               .next = "use a table of its own"}));
  }
  return out;
}

kube::Notice notice_of(const intent::ServiceFinding& finding) {
  const FindingWords words = words_of(finding.reason);
  return about_service(*finding.service, NoticeType::warning, std::string(words.reason),
                       {.said = finding.message, .code = std::string(words.code)});
}

kube::Notice notice_of_unreadable(kube::ObjectReference kind, const kube::Key& key, const kube::Unreadable& what) {
  kind.ns = key.ns;
  kind.name = key.name;
  kind.uid = what.uid;
  const Note note{
      .said = fmt::format("cannot be read: {}. It may be the reason for any rule, so until it can be, no rule "
                          "of any IPRule is withdrawn",
                          what.why),
      .next = "correct it, or delete it"};
  return {.regarding = std::move(kind),
          .type = NoticeType::warning,
          .reason = "Unreadable",
          .action = "Reconcile",
          .note = note.text()};
}

kube::Notice notice_of_denied(const api::Agent& agent, const WatchState& watch) {
  return about(agent, NoticeType::warning, "NoAccess",
               {.said = fmt::format("{}. What was known before stays in force, and nothing is withdrawn for want of it",
                                    watch.trouble.value_or(watch.resource)),
                .next = "give the controller its rights back: apply the install manifests again"});
}

}  // namespace controller
