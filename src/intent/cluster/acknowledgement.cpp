#include "intent/cluster/acknowledgement.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"

namespace intent {
namespace {

const api::NodeState::Settled* settled_configs(const api::NodeState& report) {
  const auto found = std::ranges::find(report.status.settled, api::IPRuleConfig::kKind, &api::NodeState::Settled::kind);
  return found != report.status.settled.end() ? &*found : nullptr;
}

std::uint64_t reach_of(const api::NodeState* report) {
  return report != nullptr && is_answered(*report) ? stated_epoch(*report) : 0;
}

bool is_since_last_start(const Holder& holder) {
  if (holder.state == nullptr || holder.node == nullptr) return false;
  const std::string& stated = holder.state->status.boot_id;
  return stated.empty() || holder.node->boot_id.empty() || stated == holder.node->boot_id;
}

// The entry about the object, of whatever generation; nullptr where there is none.
const api::NodeState::Failed* listed_failure(const api::NodeState& report, const api::IPRuleConfig& config) {
  const auto* settled = settled_configs(report);
  if (settled == nullptr) return nullptr;
  const auto found = std::ranges::find(settled->failed, config.meta.uid, &api::NodeState::Failed::uid);
  return found != settled->failed.end() ? &*found : nullptr;
}

template <typename Map>
std::span<const std::size_t> positions_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found != map.end() ? found->second : std::span<const std::size_t>();
}

}  // namespace

bool acknowledges(const api::NodeState& report, const api::IPRuleConfig& config) {
  const std::uint64_t wanted = api::epoch(config);
  if (wanted == 0 || reach_of(&report) < wanted) return false;
  return listed_failure(report, config) == nullptr;
}

std::uint64_t stated_epoch(const api::NodeState& report) {
  const auto* settled = settled_configs(report);
  return settled != nullptr && settled->epoch > 0 ? static_cast<std::uint64_t>(settled->epoch) : 0;
}

bool is_marked_clean(const api::IPRuleConfig& config, std::string_view node) {
  return config.meta.annotations.get(fmt::format("{}{}", api::kCleanupPrefix, node)) == "done";
}

bool is_skipped_by_old_agents(const api::IPRuleConfig::Spec& spec) {
  return spec.table == 0;
}

const api::NodeState::Failed* failure_of(const Holder& holder, const api::IPRuleConfig& config) {
  if (holder.state == nullptr || !is_answered(*holder.state)) return nullptr;
  const auto* failed = listed_failure(*holder.state, config);
  const bool is_of_now = failed != nullptr && (failed->generation == 0 || failed->generation == config.meta.generation);
  return is_of_now ? failed : nullptr;
}

NodeReports::NodeReports(const AgentPlaces& places, std::span<const api::Node* const> bare)
    : nodes_(places.nodes.begin(), places.nodes.end()),
      bare_(bare.begin(), bare.end()),
      unseen_agents_(places.unseen_agents.begin(), places.unseen_agents.end()),
      unread_reports_(places.unread_reports.begin(), places.unread_reports.end()) {
  std::map<std::string_view, Holder> by_name;
  std::map<std::string_view, const api::Node*> nodes;
  for (const api::Node* node : places.nodes) nodes[node->meta.name] = node;
  for (const api::NodeState* state : places.states) by_name[state->meta.name].state = state;
  for (const api::Pod* pod : places.pods) {
    if (pod->node_name.empty()) continue;
    const api::Pod*& known = by_name[pod->node_name].pod;
    const auto rank = [](const api::Pod* one) { return std::pair(one->is_ready, one->reports); };
    if (known == nullptr || rank(pod) > rank(known)) known = pod;
  }
  floor_ = present_floor_ = std::numeric_limits<std::uint64_t>::max();
  for (auto& [name, holder] : by_name) {
    holder.name = name;
    const auto node = nodes.find(name);
    if (node != nodes.end()) holder.node = node->second;
    if (holder.state == nullptr && holder.node == nullptr) continue;  // A pod of a Node that is not there.
    holder.reach = reach_of(holder.state);
    holder.is_asked = holder.pod != nullptr && holder.pod->reports && holder.node != nullptr;
    holder.is_since_last_start = is_since_last_start(holder);
    floor_ = std::min(floor_, holder.reach);
    if (holder.is_asked) present_floor_ = std::min(present_floor_, holder.is_since_last_start ? holder.reach : 0);
    if (holder.reach > 0) {
      for (const auto& failed : settled_configs(*holder.state)->failed) ++failed_[failed.uid];
    }
    if (holder.is_asked && holder.reach > 0) {
      for (const auto& empty : holder.state->status.empty_tables) {
        const net::Family family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6;
        empty_tables_[{empty.table, family}].push_back(holders_.size());
        for (const auto& vrf : holder.state->status.facts.vrfs) {
          if (vrf.table == empty.table) empty_vrfs_[{vrf.device, family}].push_back(holders_.size());
        }
      }
    }
    holders_.push_back(holder);
  }
}

bool NodeReports::is_past(const api::IPRuleConfig& config, std::uint64_t floor) const {
  const std::uint64_t wanted = api::epoch(config);
  return wanted != 0 && wanted <= floor && !failed_.contains(config.meta.uid);
}

bool NodeReports::is_past(const api::IPRuleConfig& config, std::uint64_t wanted, const Holder& holder) const {
  if (wanted == 0 || holder.reach < wanted) return false;
  return !failed_.contains(config.meta.uid) || listed_failure(*holder.state, config) == nullptr;
}

std::vector<std::string> NodeReports::missing(const api::IPRuleConfig& withdrawn) const {
  std::vector<std::string> out;
  if (!is_past(withdrawn, floor_)) {
    const std::uint64_t wanted = api::epoch(withdrawn);
    for (const Holder& holder : holders_) {
      if (is_past(withdrawn, wanted, holder)) continue;
      if (holder.runs_old_agent() && is_skipped_by_old_agents(withdrawn.spec)) continue;
      // Agents of ours write no mark: where one runs, it is not their word. An old agent that has gone may have left
      // it.
      if (!holder.runs_our_agent() && is_marked_clean(withdrawn, holder.name)) continue;
      out.emplace_back(holder.name);
    }
  }
  out.insert(out.end(), unseen_agents_.begin(), unseen_agents_.end());
  out.insert(out.end(), unread_reports_.begin(), unread_reports_.end());
  return out;
}

std::vector<const Holder*> NodeReports::not_applied(const api::IPRuleConfig& present) const {
  std::vector<const Holder*> out;
  if (is_past(present, present_floor_)) return out;
  const std::uint64_t wanted = api::epoch(present);
  for (const Holder& holder : holders_) {
    if (!holder.is_asked || (holder.is_since_last_start && is_past(present, wanted, holder))) continue;
    if (present.spec.node_selector.matches(holder.node->meta.labels)) out.push_back(&holder);
  }
  return out;
}

const NodeReports::Audience& NodeReports::audience(const meta::Labels& selector) const {
  const auto [at, is_new] = audiences_.try_emplace(selector);
  Audience& out = at->second;
  if (!is_new) return out;
  for (const api::Node* node : nodes_) out.picked += selector.matches(node->meta.labels) ? 1U : 0U;
  for (const Holder& holder : holders_) {
    if (holder.node == nullptr || !selector.matches(holder.node->meta.labels)) continue;
    if (holder.is_asked) ++out.asked;
    if (holder.runs_old_agent()) ++out.old;
  }
  for (const api::Node* node : bare_) {
    if (selector.matches(node->meta.labels)) out.bare.push_back(node->meta.name);
  }
  std::ranges::sort(out.bare);
  return out;
}

std::vector<const Holder*> NodeReports::without_routes(const api::IPRuleConfig& present) const {
  std::vector<const Holder*> out;
  if (empty_tables_.empty()) return out;
  const auto source = net::Address::parse(present.spec.service_ip);
  if (!source) return out;
  const auto& spec = present.spec;
  const auto positions = spec.vrf.empty() ? positions_in(empty_tables_, {api::table_of(spec), source->family()})
                                          : positions_in(empty_vrfs_, {spec.vrf, source->family()});
  for (const std::size_t position : positions) {
    const Holder& holder = holders_[position];
    if (spec.node_selector.matches(holder.node->meta.labels)) out.push_back(&holder);
  }
  return out;
}

bool AwaitNodes::is_overdue(const api::IPRuleConfig& withdrawn) const {
  const std::string& uid = withdrawn.meta.uid;
  const bool is_late = patience_.is_late(fmt::format("absent/{}/{}", uid, withdrawn.meta.generation), timeout_);
  const meta::Time until = waits_until(withdrawn);
  const bool was_set_back = until != meta::Time::max() && until - timeout_ > now_;
  return is_late && (until <= now_ || was_set_back);
}

meta::Time AwaitNodes::waits_until(const api::IPRuleConfig& withdrawn) const {
  const auto since = meta::parse_time(withdrawn.meta.annotations.get(api::kAbsentSince));
  return since ? *since + timeout_ : meta::Time::max();
}

}  // namespace intent
