#include "agent/findings.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <sys/utsname.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/blame.h"
#include "agent/crowd.h"
#include "agent/reported_facts.h"
#include "base/file.h"
#include "base/version.h"

namespace agent {
namespace {

using api::NodeState;

constexpr std::string_view kWaiting = "Waiting";  // For another object's withdrawal; it passes by itself.

meta::Condition synced(const NodeState::Status& found, const Failures& failures) {
  if (found.sync == api::Sync::in_sync) {
    return {.type = "Synced",
            .status = meta::Truth::yes,
            .reason = "InSync",
            .message = "the kernel was read back and is as published"};
  }
  const NodeState::Failed& first = failures.begin()->second;
  return {.type = "Synced",
          .status = meta::Truth::no,
          .reason = first.reason,
          .message = fmt::format("{} not programmed as published; {}: {}",
                                 failures.size() == 1 ? "1 object is" : fmt::format("{} objects are", failures.size()),
                                 first.name, first.message)};
}

// What was read back is as published as far as anybody knows, and nobody knows how far that is.
meta::Condition synced_in_doubt(const Doubt& doubt) {
  return {.type = "Synced", .status = meta::Truth::no, .reason = doubt.reason, .message = doubt.message};
}

meta::Condition clashing(const std::vector<plan::Clash>& clashes) {
  if (clashes.empty()) {
    return {.type = "Clashing",
            .status = meta::Truth::no,
            .reason = "NoClash",
            .message = "no foreign rule has the place of one of ours"};
  }
  return {.type = "Clashing",
          .status = meta::Truth::yes,
          .reason = "ForeignRule",
          .message = fmt::format("a foreign rule matches the same packets at the same priority: {}; choose another "
                                 "priority for one of them",
                                 state::text(clashes.front().foreign))};
}

meta::Condition drifting(const Pass& pass) {
  if (!pass.drifting) {
    return {.type = "Drifting",
            .status = meta::Truth::no,
            .reason = "NoDrift",
            .message = "nobody else keeps changing our rules"};
  }
  return {.type = "Drifting", .status = meta::Truth::yes, .reason = "RepeatedRepairs", .message = Drift::advice()};
}

meta::Condition foreign_rules(const Pass& pass) {
  constexpr std::size_t kMostNamed = 10;
  if (pass.foreign.empty()) {
    return {.type = "ForeignRules",
            .status = meta::Truth::no,
            .reason = "NoneFound",
            .message = "no rule of others is in the scope of the Agent's foreignRules"};
  }
  std::string names;
  for (const state::Rule& rule : pass.foreign | std::views::take(kMostNamed)) names += "; " + state::text(rule);
  if (pass.foreign.size() > kMostNamed) names += "; ...";
  return {.type = "ForeignRules",
          .status = meta::Truth::yes,
          .reason = "Found",
          .message = fmt::format(
              "{} of others in the scope of the Agent's foreignRules{}. {}",
              pass.foreign.size() == 1 ? "1 rule" : fmt::format("{} rules", pass.foreign.size()), names,
              pass.wanted.foreign_rules->prunes ? "They are removed when they were seen for a whole reconcilePeriod"
                                                : "The policy Prune would remove them, with sources and tables given")};
}

meta::Condition warnings(const std::vector<std::string>& all) {
  constexpr std::size_t kMostNamed = 5;
  std::string message;
  for (const std::string& one : all | std::views::take(kMostNamed)) message += (message.empty() ? "" : "; ") + one;
  if (all.size() > kMostNamed) message += fmt::format("; and {} more", all.size() - kMostNamed);
  return {.type = "Warnings", .status = meta::Truth::yes, .reason = "Programmed", .message = std::move(message)};
}

api::Sync sync_of(const Failures& failures) {
  if (failures.empty()) return api::Sync::in_sync;
  const bool all_wait =
      std::ranges::all_of(failures, [](const auto& entry) { return entry.second.reason == kWaiting; });
  return all_wait ? api::Sync::applying : api::Sync::failing;
}

api::NodeCounts count(const Pass& pass, const Failures& failures) {
  std::set<net::Address> sources;
  for (const intent::Claim& claim : pass.wanted.claims) sources.insert(claim.source);
  return {.rules = static_cast<std::int32_t>(pass.own_rules),
          .sources = static_cast<std::int32_t>(sources.size()),
          .failures = static_cast<std::int32_t>(failures.size()),
          .clashes = static_cast<std::int32_t>(pass.report.left.clashes.size())};
}

api::Backend backend_of(const state::NetState& kernel) {
  return kernel.nft && !kernel.nft->sources.empty() ? api::Backend::marks : api::Backend::rules;
}

void describe(const state::NodeFacts& facts, const state::NetState& wanted, NodeState::Status& out) {
  const std::string kernel = std::move(out.facts.kernel);  // Known before anybody looked.
  out.facts = reported(facts);
  out.facts.kernel = kernel;
  for (const state::TableUse& use : facts.tables) {
    const auto uses = [&](const state::Rule& rule) { return rule.table == use.table && rule.family == use.family; };
    if (use.routes > 0 || std::ranges::none_of(wanted.rules, uses)) continue;
    if (out.empty_tables.size() == NodeState::kMaxTables) break;
    out.empty_tables.push_back(
        {.table = use.table, .family = use.family == net::Family::v4 ? api::IPFamily::v4 : api::IPFamily::v6});
  }
}

// False where the look proves nothing either way.
bool describe(const ClusterSource::Basis& basis, const Pass& pass, const std::optional<Doubt>& doubt, Findings& out) {
  Failures failures = failures_of(pass, *basis.configs);
  const bool is_verified = is_proof(pass);
  const std::optional<Doubt> refused = refused_change(pass);
  if (!is_verified && failures.empty() && !refused) return false;

  out.found.sync = sync_of(failures);
  out.found.counts = count(pass, failures);
  const state::NetState& kernel = state::state_of(pass.report.after);
  out.found.holds_nothing = is_verified && pass.own_rules == 0 && !kernel.nft;
  out.found.dataplane = backend_of(kernel);
  describe(pass.facts, pass.wanted.state, out.found);
  out.found.drift = pass.reported_drift;
  std::ranges::move(drift_beside_ours(pass.report.left.clashes), std::back_inserter(out.found.drift));
  out.found.conditions = {synced(out.found, failures), clashing(pass.report.left.clashes), drifting(pass)};
  if (const auto& reason = refused ? refused : doubt; reason && out.found.sync != api::Sync::failing) {
    out.found.sync = api::Sync::failing;
    out.found.conditions.front() = synced_in_doubt(*reason);
  }
  if (!pass.missing_baseline.empty()) {
    out.found.conditions.push_back({.type = "BaselineMissing",
                                    .status = meta::Truth::yes,
                                    .reason = "RemovedByOthers",
                                    .message = baseline_advice(pass)});
  }
  if (!pass.wanted.warnings.empty()) out.found.conditions.push_back(warnings(pass.wanted.warnings));
  if (pass.wanted.foreign_rules) out.found.conditions.push_back(foreign_rules(pass));
  out.progress.is_verified = is_verified;
  // While the stream is broken nobody knows whether the server still means the same by these numbers.
  out.progress.is_complete = pass.wanted.whole && !basis.configs->trouble;
  out.progress.version = basis.configs->version;
  for (const auto& object : basis.configs->objects) {
    out.progress.largest_epoch = std::max(out.progress.largest_epoch, object->value.epoch);
  }
  for (auto& [uid, failed] : failures) out.progress.failed.push_back(std::move(failed));
  return true;
}

void describe_trouble(const Doubt& trouble, Findings& out) {
  out.found.sync = api::Sync::failing;
  out.found.counts = out.stored.counts;  // For want of better knowledge.
  out.found.dataplane = out.stored.dataplane;
  out.found.conditions = {synced_in_doubt(trouble)};
}

Doubt trouble_of(const base::Error& error) {
  return {.reason = error.fault() == base::Fault::denied ? "NotPermitted" : "KernelUnreadable",
          .message = error.message()};
}

// Who is answered; nothing where nobody asks, or where an answer would prove nothing.
std::optional<Findings> answer_to(const ClusterSource::Basis& basis, const NodeIdentity& identity) {
  if (!basis.complete() || !basis.listed_under_token) return std::nullopt;
  const auto* report = basis.report();
  if (report == nullptr || basis.node() == nullptr || report->value.spec.token.empty()) return std::nullopt;
  Findings out{.uid = report->uid,
               .token = report->value.spec.token,
               .version = report->version,
               .stored = report->value.status,
               .turn = turn_of(report->key.name, report->value.spec.nodes)};
  out.found.token = out.token;
  out.found.boot_id = identity.boot_id;
  out.found.version = identity.version;
  out.found.facts.kernel = identity.kernel;
  return out;
}

}  // namespace

NodeIdentity NodeIdentity::of_this_node() {
  utsname names{};
  (void)::uname(&names);  // Cannot fail with a good address.
  std::string boot_id = base::read_file("/proc/sys/kernel/random/boot_id").value_or("");
  boot_id = boot_id.substr(0, boot_id.find('\n'));
  return {.boot_id = std::move(boot_id), .kernel = names.release, .version = std::string(base::version())};
}

std::optional<Findings> findings(const ClusterSource::Basis& basis, const Looked& looked, const NodeIdentity& identity,
                                 const std::optional<Doubt>& doubt) {
  auto out = answer_to(basis, identity);
  if (!out || (looked && !*looked)) return std::nullopt;
  if (!looked) {
    describe_trouble(trouble_of(looked.error()), *out);
  } else if (!describe(basis, **looked, doubt, *out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<Findings> standing_still(const ClusterSource::Basis& basis, const NodeIdentity& identity,
                                       const Doubt& reason) {
  auto out = answer_to(basis, identity);
  if (out) describe_trouble(reason, *out);
  return out;
}

std::optional<Findings> farewell(const ClusterSource::Basis& basis, const NodeIdentity& identity) {
  auto out = answer_to(basis, identity);
  if (!out) return std::nullopt;
  out->found.sync = api::Sync::applying;
  out->found.holds_nothing = true;
  out->found.counts = api::NodeCounts();
  out->found.conditions = {{.type = "Synced",
                            .status = meta::Truth::no,
                            .reason = "Removed",
                            .message = "the agent was taken from this node and has removed its rules"}};
  return out;
}

}  // namespace agent
