#include "controller/notices.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "intent/cluster/config_status.h"

namespace controller {
namespace {

using Step = intent::Write::Step;
using kube::NoticeType;

constexpr std::uint32_t kMainPriority = 32766;

template <typename Kind>
kube::Notice about(const Kind& object, NoticeType type, std::string reason, std::string note) {
  return {.regarding = {.api_version = std::string(api::kApiVersion),
                        .kind = std::string(Kind::kKind),
                        .ns = object.meta.ns,
                        .name = object.meta.name,
                        .uid = object.meta.uid},
          .type = type,
          .reason = std::move(reason),
          .action = "Reconcile",
          .note = std::move(note)};
}

kube::Notice about_service(const api::Service& service, NoticeType type, std::string reason, std::string note) {
  return {.regarding = {.api_version = "v1",
                        .kind = "Service",
                        .ns = service.meta.ns,
                        .name = service.meta.name,
                        .uid = service.meta.uid},
          .type = type,
          .reason = std::move(reason),
          .action = "Reconcile",
          .note = std::move(note)};
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

std::string_view reason_of(intent::ServiceFinding::Reason reason) {
  using Reason = intent::ServiceFinding::Reason;
  switch (reason) {
    case Reason::no_cluster_ip:
      return "NoClusterIP";
    case Reason::hostname_only_ingress:
      return "HostnameOnlyIngress";
    case Reason::family_mismatch:
      return "FamilyMismatch";
    case Reason::priority_conflict:
      return "PriorityConflict";
    case Reason::proxied_address:
      return "ProxiedAddress";
  }
  return "ProxiedAddress";
}

}  // namespace

std::optional<kube::Notice> notice_of(const intent::Write& write, const std::vector<std::string>& missing) {
  if (write.step == Step::withdraw) {
    return about(write.object, NoticeType::normal, "MarkedAbsent",
                 fmt::format("no Service and IPRule ask for {} any more: nodes remove the rule, and this object goes "
                             "when the last one has; kubectl get nodestates shows how far they are",
                             write.object.spec.service_ip));
  }
  if (write.step == Step::remove && !missing.empty()) {
    return about(
        write.object, NoticeType::warning, "CleanupTimeout",
        fmt::format("not waited for any longer: {}. What they still hold goes when their agent starts; look at "
                    "the agent's pod there, or delete the Node if it is gone for good",
                    intent::some_of(missing)));
  }
  if (write.is_drift) {
    return about(write.object, NoticeType::normal, "DriftRepaired",
                 "changed by hand, and put back: the controller makes this object; change the IPRule that owns it");
  }
  return std::nullopt;
}

std::vector<kube::Notice> notices_of(const intent::ConfigStatusWrite& write, const api::IPRuleConfig::Status& before) {
  std::vector<kube::Notice> out;
  const auto& after = write.object.status.conditions;
  const auto* applied = news(before.conditions, after, "Applied");
  if (applied != nullptr && applied->reason == "NodesFailing") {
    out.push_back(about(write.object, NoticeType::warning, "RuleAddFailed", applied->message));
  }
  const auto* cleaned = news(before.conditions, after, "CleanedUp");
  if (cleaned != nullptr && cleaned->reason == "NodesFailing") {
    out.push_back(about(write.object, NoticeType::warning, "RuleDeleteFailed", cleaned->message));
  }
  if (write.wanted == nullptr) return out;
  const intent::Tuple& tuple = write.wanted->tuple;
  const std::string target = tuple.vrf.empty() ? fmt::format("table {}", tuple.table) : "VRF " + tuple.vrf;
  for (const api::Service* service : write.wanted->services) {
    out.push_back(about_service(
        *service, NoticeType::normal, "RuleProgrammed",
        fmt::format("replies with source {} ({}) go to {} at priority {}, {} (IPRule {}); iprulectl explain shows a "
                    "packet's way",
                    tuple.source.text(), api::text(tuple.mode), target, tuple.priority,
                    applied != nullptr ? applied->message : "in force", write.wanted->owners.front()->meta.name)));
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
    out.push_back(about(rule, NoticeType::warning, "InvalidSpec", accepted->message));
  }
  if (const auto* programmed = news(before.conditions, after, "Programmed");
      programmed != nullptr && programmed->reason == "NoMatch" && accepted != nullptr &&
      accepted->status == meta::Truth::yes) {
    out.push_back(about(rule, NoticeType::normal, "NoMatch", programmed->message));
  }
  if (const auto* effect = news(before.conditions, after, "Effective");
      effect != nullptr && effect->reason == "SourceNeverSeen") {
    out.push_back(about(rule, NoticeType::warning, "SourceModeHint", effect->message));
  }
  if (!is_new_spec) return out;
  const std::uint32_t priority =
      intent::effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), default_priority);
  if (priority >= kMainPriority) {
    out.push_back(about(rule, NoticeType::warning, "PriorityAfterMain",
                        fmt::format("priority {} comes after the main table, so its default route answers first; set "
                                    "spec.priority to 32765 or less",
                                    priority)));
  }
  if (rule.spec.table >= 253 && rule.spec.table <= 255) {
    out.push_back(
        about(rule, NoticeType::warning, "ReservedTable",
              fmt::format("table {} is one of the kernel's own (default, main, local); use a table of its own",
                          rule.spec.table)));
  }
  return out;
}

kube::Notice notice_of(const intent::ServiceFinding& finding) {
  return about_service(*finding.service, NoticeType::warning, std::string(reason_of(finding.reason)), finding.message);
}

}  // namespace controller
