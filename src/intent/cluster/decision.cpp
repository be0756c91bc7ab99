#include "intent/cluster/decision.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "api/published_config.h"
#include "intent/cluster/cluster_prefixes.h"
#include "intent/cluster/config_status.h"
#include "intent/cluster/naming.h"
#include "intent/cluster/replacements.h"
#include "intent/cluster/rule_status.h"
#include "intent/cluster/shards.h"

namespace intent {
namespace {

using api::ConfigState;
using api::IPRuleConfig;

bool withdraws(const Write& write) {
  return write.step == Write::Step::withdraw || write.step == Write::Step::remove;
}

bool is_leaving(const IPRuleConfig& config) {
  return config.is_managed() && is_withdrawn(config);
}

// The nodes that the Agent selects, whose agents we can all see, and where none has been for a while.
std::vector<const api::Node*> bare_nodes(const ClusterNow& cluster, Patience& patience) {
  std::vector<const api::Node*> out;
  if (cluster.agent == nullptr || !cluster.places.unseen_agents.empty()) return out;
  std::unordered_set<std::string_view> running;
  for (const api::Pod* pod : cluster.places.pods) running.insert(pod->node_name);
  for (const api::Node* node : cluster.places.nodes) {
    if (running.contains(node->meta.name) || !cluster.agent->spec.node_selector.matches(node->meta.labels)) continue;
    if (patience.is_late("agent on " + node->meta.name)) out.push_back(node);
  }
  return out;
}

class Decider {
 public:
  Decider(const ClusterNow& cluster, Patience& patience)
      : cluster_(cluster),
        patience_(patience),
        settings_(cluster.agent != nullptr ? cluster.agent->spec : api::Agent::Spec()),
        priority_(api::default_priority(settings_)),
        reports_(cluster.places, bare_nodes(cluster, patience)),
        removal_(reports_, patience, cluster.now,
                 std::chrono::ceil<std::chrono::seconds>(api::absent_timeout(settings_))) {}

  Decision run() {
    decide_states();
    decide_configs();
    decide_config_statuses();
    decide_rule_statuses();
    return std::move(out_);
  }

 private:
  void decide_states() {
    out_.states = node_state_changes(
        cluster_.places, {.cluster_prefixes = cluster_prefixes(cluster_.places.nodes, settings_.cluster_cidrs),
                          .may_change_prefixes = cluster_.agent != nullptr,
                          .fresh_token = cluster_.fresh_token,
                          .distrusted = cluster_.distrusted});
  }

  void decide_configs() {
    out_.desired = desired_configs({.rules = cluster_.rules,
                                    .services = cluster_.services,
                                    .nodes = cluster_.places.nodes,
                                    .slices = cluster_.slices,
                                    .default_priority = priority_});
    assign_shards(out_.desired, cluster_.configs);
    out_.configs = changes(cluster_.configs, cluster_.unread_configs, out_.desired, priority_, removal_, cluster_.now);
    if (!cluster_.may_withdraw) std::erase_if(out_.configs, withdraws);
    if (!cluster_.may_replace) hold_replacements();
    record_epochs_first();
    for (const Write& write : out_.configs) {
      written_.insert(write.object.meta.name);
      note_failure(write);
      if (write.step != Write::Step::remove || !is_leaving(write.object)) continue;
      if (!removal_.is_overdue(write.object)) continue;
      auto missing = reports_.missing(write.object);
      if (!missing.empty()) out_.given_up[write.object.meta.name] = std::move(missing);
    }
  }

  // What was decided before that IPRule could not be read stays, and a source that nothing steers gets its object.
  void hold_replacements() {
    for (const Write& held : take_replacements(out_.configs, cluster_.configs, out_.desired, priority_)) {
      const auto tuple = tuple_of(held.object, priority_);
      if (!tuple || !patience_.is_late("write/" + held.object.meta.name)) continue;
      unwritten_[*tuple] =
          fmt::format("an IPRule that cannot be read may be the reason for what steers {} now", tuple->source.text());
    }
  }

  // What fails for long is said; until then it is under way.
  void note_failure(const Write& write) {
    const std::string& name = write.object.meta.name;
    const auto failed = cluster_.failed_writes.find(name);
    if (failed == cluster_.failed_writes.end() || !(failed->second.asked == write.object.spec)) return;
    if (!patience_.is_late("write/" + name)) return;
    if (write.step == Write::Step::repair && !write.is_new_spec) stuck_.insert(name);
    const bool is_order = write.step == Write::Step::create || write.step == Write::Step::reactivate ||
                          (write.step == Write::Step::repair && write.is_new_spec);
    const auto tuple = tuple_of(write.object, priority_);
    if (is_order && tuple) unwritten_[*tuple] = failed->second.error;
  }

  // A write of metadata gives the object a new version. Until its status holds the epoch, nodes would take that for a
  // new order and all of them would report again.
  void record_epochs_first() {
    std::unordered_set<std::string_view> unrecorded;
    for (const Write& write : out_.configs) {
      const bool is_recorded = write.object.status.observed_generation == write.object.meta.generation;
      if (write.step == Write::Step::repair && !write.is_new_spec && !is_recorded)
        unrecorded.insert(write.object.meta.name);
    }
    if (unrecorded.empty()) return;
    for (const IPRuleConfig* config : cluster_.configs) {
      if (!unrecorded.contains(config->meta.name)) continue;
      ConfigStatusWrite record{.object = *config};
      record.object.status = with_epoch(*config);
      written_.insert(config->meta.name);
      out_.config_statuses.push_back(std::move(record));
    }
    std::erase_if(out_.configs, [&](const Write& write) {
      return write.step == Write::Step::repair && written_.contains(write.object.meta.name);
    });
  }

  void decide_config_statuses() {
    const auto published = find_published(cluster_.configs, out_.desired, priority_);
    for (std::size_t i = 0; i < published.size(); ++i) {
      const DesiredConfig& wanted = out_.desired.configs[i];
      const IPRuleConfig* config = published[i];
      const bool is_there =
          config != nullptr && config->spec.state == ConfigState::present && !config->meta.terminating();
      const bool is_current = is_there && !written_.contains(config->meta.name);
      const bool is_as_it_was = is_there && stuck_.contains(config->meta.name);
      const Spread spread =
          is_current || is_as_it_was ? spread_of(*config, reports_, patience_) : not_written(wanted.tuple);
      for (const api::IPRule* owner : wanted.owners) spreads_[owner].add(spread);
      if (is_current) put_status(*config, present_status(*config, spread, cluster_.now), &wanted);
    }
    std::set<std::string> pending;
    for (const IPRuleConfig* config : cluster_.configs) {
      if (!is_leaving(*config)) continue;
      const meta::Time until = removal_.waits_until(*config);
      if (!removal_.is_overdue(*config) && until > cluster_.now) out_.look_again = std::min(out_.look_again, until);
      for (std::string& name : reports_.missing(*config)) pending.insert(std::move(name));
      if (written_.contains(config->meta.name)) continue;
      put_status(*config, withdrawn_status(*config, reports_, patience_, cluster_.now), nullptr);
    }
    out_.pending_nodes = pending.size();
  }

  Spread not_written(const Tuple& wanted) const {
    const auto failed = unwritten_.find(wanted);
    if (failed == unwritten_.end()) return {};
    return {.stage = Spread::Stage::unwritten, .refusal = failed->second};
  }

  void put_status(const IPRuleConfig& config, std::optional<IPRuleConfig::Status> status, const DesiredConfig* wanted) {
    if (!status) return;
    const auto is_applied = [](const IPRuleConfig::Status& of) {
      const auto* condition = meta::find(of.conditions, "Applied");
      return condition != nullptr && condition->status == meta::Truth::yes;
    };
    ConfigStatusWrite write{.object = config};
    if (wanted != nullptr && is_applied(*status) && !is_applied(config.status)) write.wanted = wanted;
    write.object.status = *std::move(status);
    out_.config_statuses.push_back(std::move(write));
  }

  void decide_rule_statuses() {
    note_leftovers();
    const ServiceCensus census = ServiceCensus::of(cluster_.services, cluster_.now);
    out_.look_again = std::min(out_.look_again, census.next_pending);
    for (const RuleOutcome& outcome : out_.desired.rules) {
      const RuleSpread& spread = spreads_[outcome.rule];
      // One write when it is done instead of two; but not for ever.
      if (spread.under_way > 0 && !patience_.is_late("rule/" + outcome.rule->meta.uid)) continue;
      auto status = rule_status(outcome, spread, census, reports_, settings_, cluster_.now);
      if (status == outcome.rule->status) continue;
      RuleStatusWrite write{.object = *outcome.rule, .before = outcome.rule};
      write.object.status = std::move(status);
      out_.rule_statuses.push_back(std::move(write));
    }
  }

  // Objects that are still being cleaned up, for the IPRules that owned them; and names that others have taken.
  void note_leftovers() {
    std::unordered_map<std::string_view, const api::IPRule*> by_uid;
    for (const RuleOutcome& outcome : out_.desired.rules) by_uid[outcome.rule->meta.uid] = outcome.rule;
    std::unordered_set<std::string_view> foreign;
    for (const IPRuleConfig* config : cluster_.configs) {
      if (!api::is_published(*config)) foreign.insert(config->meta.name);
      if (!is_leaving(*config)) continue;
      for (const auto& owner : config->meta.owners) {
        if (const auto rule = by_uid.find(owner.uid); rule != by_uid.end()) {
          spreads_[rule->second].cleaning.push_back(config->meta.name);
        }
      }
    }
    if (foreign.empty()) return;
    for (const DesiredConfig& wanted : out_.desired.configs) {
      std::string name = base_name(wanted.tuple);
      if (foreign.contains(name)) spreads_[wanted.owners.front()].names_taken.push_back(std::move(name));
    }
  }

  const ClusterNow& cluster_;
  Patience& patience_;
  const api::Agent::Spec settings_;
  const std::uint32_t priority_;
  const NodeReports reports_;
  const AwaitNodes removal_;
  Decision out_;
  std::unordered_set<std::string> written_;  // Objects with a write of this pass; their version will change.
  std::unordered_set<std::string> stuck_;    // Of those, where it fails and concerns metadata only.
  std::map<Tuple, std::string> unwritten_;   // What is desired and cannot be written, with the reason.
  std::unordered_map<const api::IPRule*, RuleSpread> spreads_;
};

}  // namespace

Decision decide(const ClusterNow& cluster, Patience& patience) {
  return Decider(cluster, patience).run();
}

}  // namespace intent
