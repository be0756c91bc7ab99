#include "controller/service_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "controller/notices.h"
#include "controller/resources.h"
#include "controller/waits.h"
#include "intent/cluster/active_agent.h"

namespace controller {
namespace {

using namespace std::chrono_literals;
using Step = intent::Write::Step;

constexpr base::Duration kTogether = 50ms;      // Changes that come within this after a pass are one next pass.
constexpr base::Duration kPatience = 5s;        // For nodes to do what they were told, before the status names them.
constexpr base::Duration kBesideFailures = 1s;  // A pass that is due tries again what fails: no more often than this.
constexpr base::Duration kTelling = 20ms;       // For statuses in one pass: orders to nodes wait no longer for them.

base::TimePoint steady_now() {
  return base::SteadyClock().now();
}

meta::Time wall_now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

ServiceRulesFigures figures_of(const ClusterSeen& seen, const intent::Decision& decision) {
  ServiceRulesFigures out;
  out.desired = decision.desired.configs.size();
  for (const auto& outcome : decision.desired.rules) {
    out.conflicts += outcome.conflicts.size();
    if (!outcome.acceptance.accepted()) ++out.invalid_rules;
  }
  for (const api::IPRuleConfig* config : seen.configs.objects) {
    if (config->is_managed() && intent::is_withdrawn(*config)) ++out.absent;
  }
  out.pending_nodes = decision.pending_nodes;
  return out;
}

// One that cannot be read, and never could, may be the one that counts. Its settings are the priorities of all objects,
// among others: by our own, what stands would be published anew.
base::Status know_agents(const kube::View<api::Agent>& agents) {
  for (const auto& [key, found] : agents.unknown) {
    if (agents.find(key) != nullptr) continue;
    return base::fail(base::Fault::invalid, fmt::format("Agent {} cannot be read: {}", key.text(), found.why));
  }
  return {};
}

}  // namespace

ServiceRules::ServiceRules(kube::Client& client, kube::Client& statuses, ServiceRulesOptions options)
    : options_(std::move(options)),
      statuses_(statuses),
      watch_(client, changed_),
      configs_(client, statuses, options_.request_time),
      reports_(client, options_.request_time),
      hold_down_(options_.absent_delay),
      patience_(kPatience),
      events_(statuses, {.controller = "iprule-controller", .instance = options_.instance}) {}

bool ServiceRules::sees_own_writes(const ClusterSeen& seen) {
  return configs_.is_seen_in(*seen.configs.view) && reports_.is_seen_in(*seen.states.view) &&
         rule_writes_.are_in(*seen.rules.view);
}

base::Result<ServiceRules::Work> ServiceRules::decide(const ClusterSeen& seen, base::TimePoint start,
                                                      std::stop_token stop) {
  TRY(know_agents(*seen.agents.view));
  const api::Agent* agent = intent::active_agent(seen.agents.objects, options_.ns);
  auto distrusted = TRY(reports_.find_distrusted(seen, std::move(stop)));
  patience_.begin_pass(start);
  pace_.begin_pass(start);
  auto decision = intent::decide({.rules = seen.rules.objects,
                                  .services = seen.services.objects,
                                  .slices = seen.slices.objects,
                                  .configs = seen.configs.objects,
                                  .unread_configs = seen.unread_configs,
                                  .places = {.nodes = seen.nodes.objects,
                                             .pods = seen.pods,
                                             .states = seen.states.objects,
                                             .unseen_agents = seen.unseen_agents,
                                             .unread_reports = seen.unread_reports},
                                  .agent = agent,
                                  .may_withdraw = seen.may_withdraw(),
                                  .may_replace = seen.may_replace(),
                                  .fresh_token = random_token(),
                                  .distrusted = std::move(distrusted),
                                  .failed_writes = unwritten_.failed(),
                                  .now = wall_now()},
                                 patience_);
  auto figures = figures_of(seen, decision);
  return Work{.seen = seen,
              .decision = std::move(decision),
              .default_priority = api::default_priority(agent != nullptr ? agent->spec : api::Agent::Spec()),
              .figures = figures,
              .start = start,
              .failed = 0,
              .first_error = {}};
}

base::Result<kube::Next> ServiceRules::reconcile(std::stop_token stop) {
  const base::TimePoint start = steady_now();
  if (start < last_pass_ + kTogether) return kube::Next::put_off(last_pass_ + kTogether - start);
  const auto seen = watch_.look();
  if (!seen) return kube::Next::put_off(kResync);
  if (!sees_own_writes(*seen)) return kube::Next::put_off(kEcho);
  last_pass_ = start;

  Work work = TRY(decide(*seen, start, stop));
  const auto due = hold_down_.hold(work.decision.configs, start);
  work.writes_until = steady_now() + options_.writing_time;
  write_states(work, stop);
  write_configs(work, stop);
  work.statuses_until = steady_now() + kTelling;
  write_rule_statuses(work, stop);  // Few, and looked at first.
  write_config_statuses(work, stop);
  work.statuses_until = steady_now() + kTelling;
  write_late_states(work, stop);
  announce_findings(work);
  log_changes(work);
  if (options_.figures) options_.figures(work.figures);
  if (stop.stop_requested()) return kube::Next::on_change();
  const base::Duration wait = time_to_next(work, due);
  if (work.failed == 0) return kube::Next::after(wait);
  return kube::Next::failed(
      {base::Fault::unavailable, fmt::format("{} writes failed; the first: {}", work.failed, work.first_error)}, wait);
}

// What is due by itself. It does not wait for the back-off of a write that fails, nor does that one come more often
// for what this pass has left.
base::Duration ServiceRules::time_to_next(const Work& work, std::optional<base::TimePoint> due) const {
  const base::TimePoint start = work.start;
  base::Duration wait = kResync;
  if (due) wait = std::min<base::Duration>(wait, *due - start);
  if (const auto late = patience_.next_late()) wait = std::min<base::Duration>(wait, *late - start);
  if (const auto untold = pace_.next_due()) wait = std::min<base::Duration>(wait, *untold - start);
  if (work.decision.look_again != meta::Time::max()) {
    wait = std::min<base::Duration>(wait, work.decision.look_again - wall_now());
  }
  if (work.failed > 0) return std::max<base::Duration>(wait, kBesideFailures);
  return work.is_left ? kTogether : std::max(wait, kTogether);
}

// True if it was done. The others do not depend on one that failed.
bool ServiceRules::note(Work& work, const base::Status& written, std::string_view kind, std::string_view step,
                        const std::string& name) {
  if (written) {
    base::log::debug("wrote", {{"kind", std::string(kind)}, {"step", std::string(step)}, {"name", name}});
    return true;
  }
  base::log::warning(
      "could not write",
      {{"kind", std::string(kind)}, {"step", std::string(step)}, {"name", name}, {"err", written.error().message()}});
  if (work.failed++ == 0) work.first_error = fmt::format("{} {}: {}", kind, name, written.error().message());
  return false;
}

// One line for a pass that changed something, with the keys of the old project's; each object's own is for debugging.
void ServiceRules::log_changes(const Work& work) {
  const ServiceRulesFigures& now = work.figures;
  if (now.created + now.updated + now.marked_absent + now.removed + now.reports == 0) return;
  const std::uint64_t absent = now.absent + now.marked_absent;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_now() - work.start);
  base::log::info("reconciled", {{"desired", now.desired},
                                 {"created", now.created},
                                 {"updated", now.updated},
                                 {"unchanged", now.desired - std::min(now.desired, now.created + now.updated)},
                                 {"newlyAbsent", now.marked_absent},
                                 {"absentTotal", absent - std::min(absent, now.removed)},
                                 {"removed", now.removed},
                                 {"reports", now.reports},
                                 {"failed", work.failed},
                                 {"took_ms", took.count()}});
}

// A server that takes calls and never answers must not make the pass look stuck, nor must a very large bulk: the next
// one finds out what is left. One write that hangs still lets the others through.
bool ServiceRules::may_write(Work& work, const std::stop_token& stop) const {
  if (stop.stop_requested()) return false;
  if (steady_now() < work.writes_until) return true;
  work.is_left = true;
  return false;
}

// Those that a node waits for.
void ServiceRules::write_states(Work& work, const std::stop_token& stop) {
  for (const intent::NodeStateWrite& one : work.decision.states) {
    if (one.can_wait || reports_.is_futile(one)) continue;
    if (!may_write(work, stop)) return;
    write_state(work, one, stop);
  }
}

// One node more or less changes those of all others: orders to nodes do not queue behind that.
void ServiceRules::write_late_states(Work& work, const std::stop_token& stop) {
  for (const intent::NodeStateWrite& one : work.decision.states) {
    if (!one.can_wait || reports_.is_futile(one)) continue;
    if (!may_write_status(work, stop)) return;
    write_state(work, one, stop);
  }
}

void ServiceRules::write_state(Work& work, const intent::NodeStateWrite& one, const std::stop_token& stop) {
  const auto written = reports_.write(one, stop);
  if (note(work, written, api::NodeState::kKind, intent::text(one.step), one.object.meta.name)) ++work.figures.reports;
}

void ServiceRules::write_configs(Work& work, const std::stop_token& stop) {
  static const std::vector<std::string> kNobody;
  unwritten_.begin_pass();
  for (const intent::Write& one : work.decision.configs) {
    if (!may_write(work, stop)) {
      unwritten_.end_pass_early();
      return;
    }
    if (unwritten_.holds_back(one)) continue;
    const std::string& name = one.object.meta.name;
    const auto written = configs_.write(one, stop);
    unwritten_.note(one, written);
    if (!note(work, written, api::IPRuleConfig::kKind, intent::text(one.step), name)) continue;
    if (one.step == Step::create) ++work.figures.created;
    if (one.step == Step::repair || one.step == Step::reactivate) ++work.figures.updated;
    if (one.step == Step::withdraw) ++work.figures.marked_absent;
    if (one.step == Step::remove) ++work.figures.removed;
    const auto given_up = work.decision.given_up.find(name);
    const auto& missing = given_up != work.decision.given_up.end() ? given_up->second : kNobody;
    if (auto notice = notice_of(one, missing)) events_.record(*std::move(notice));
  }
}

bool ServiceRules::may_write_status(Work& work, const std::stop_token& stop) const {
  if (stop.stop_requested()) return false;
  if (steady_now() < work.statuses_until) return true;
  work.is_left = true;
  return false;
}

void ServiceRules::write_config_statuses(Work& work, const std::stop_token& stop) {
  for (const intent::ConfigStatusWrite& one : work.decision.config_statuses) {
    const auto* known = work.seen.configs.view->find({.ns = "", .name = one.object.meta.name});
    if (known == nullptr) continue;
    const auto& before = known->value.status;
    const bool is_new = before.observed_generation != one.object.status.observed_generation ||
                        is_news(before.conditions, one.object.status.conditions);
    if (!pace_.is_due(one.object.meta.uid, is_new)) continue;
    if (!may_write_status(work, stop)) return;
    pace_.wrote(one.object.meta.uid);
    const auto written = configs_.write_status(one.object, stop);
    if (!note(work, written, api::IPRuleConfig::kKind, "status", one.object.meta.name)) continue;
    for (kube::Notice& notice : notices_of(one, before)) events_.record(std::move(notice));
  }
}

void ServiceRules::write_rule_statuses(Work& work, const std::stop_token& stop) {
  if (unwritten_.is_outdated()) {
    work.is_left = true;
    return;
  }
  for (const intent::RuleStatusWrite& one : work.decision.rule_statuses) {
    const auto& before = one.before->status;
    const bool is_new = before.observed_generation != one.object.status.observed_generation ||
                        before.matched_vips != one.object.status.matched_vips ||
                        before.configs != one.object.status.configs ||
                        is_news(before.conditions, one.object.status.conditions);
    if (!pace_.is_due(one.object.meta.uid, is_new)) continue;
    if (!may_write_status(work, stop)) return;
    pace_.wrote(one.object.meta.uid);
    const auto answer = statuses_.update_status(resource_of<api::IPRule>(), {.ns = "", .name = one.object.meta.name},
                                                api::encode(one.object), kube::within(options_.request_time, stop));
    const base::Status written = answer ? base::Status() : base::Status(std::unexpected(answer.error()));
    if (!note(work, written, api::IPRule::kKind, "status", one.object.meta.name)) continue;
    rule_writes_.note(*answer);
    for (kube::Notice& notice : notices_of(one, work.default_priority)) events_.record(std::move(notice));
  }
}

std::optional<std::string> ServiceRules::trouble() const {
  std::string out;
  for (const WatchState& watch : watch_.watches()) {
    if (watch.trouble) out += (out.empty() ? "" : "; ") + *watch.trouble;
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

// Each once, and again only after it had ceased to be true.
void ServiceRules::announce(std::set<std::string>& found, std::string key, kube::Notice notice) {
  if (!announced_.contains(key)) events_.record(std::move(notice));
  found.insert(std::move(key));
}

// What we cannot see, and what follows from that, on the objects where people look.
void ServiceRules::announce_blindness(const Work& work, std::set<std::string>& found) {
  const auto unreadable = [&](const kube::ObjectReference& kind, const auto& view) {
    for (const auto& [key, what] : view.unknown) {
      announce(found, fmt::format("unreadable/{}/{}", what.uid, what.why), notice_of_unreadable(kind, key, what));
    }
  };
  const std::string ours(api::kApiVersion);
  unreadable({.api_version = ours, .kind = std::string(api::IPRule::kKind), .ns = "", .name = "", .uid = ""},
             *work.seen.rules.view);
  unreadable({.api_version = "v1", .kind = "Service", .ns = "", .name = "", .uid = ""}, *work.seen.services.view);
  const api::Agent* agent = intent::active_agent(work.seen.agents.objects, options_.ns);
  if (agent == nullptr) return;
  for (const WatchState& watch : watch_.watches()) {
    if (watch.is_denied) announce(found, "denied/" + watch.resource, notice_of_denied(*agent, watch));
  }
}

void ServiceRules::announce_findings(const Work& work) {
  std::set<std::string> found;
  for (const intent::ServiceFinding& finding : work.decision.desired.findings) {
    const std::string key =
        fmt::format("{}/{}/{}", finding.service->meta.uid, static_cast<int>(finding.reason), finding.message);
    announce(found, key, notice_of(finding));
  }
  announce_blindness(work, found);
  announced_ = std::move(found);
  for (kube::Notice& notice : report_notices_.news(work.seen.states.objects, work.seen.nodes.objects)) {
    events_.record(std::move(notice));
  }
}

}  // namespace controller
