#include "intent/cluster/changes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "intent/cluster/naming.h"
#include "intent/cluster/shards.h"

namespace intent {
namespace {

using api::ConfigState;
using api::IPRuleConfig;
using api::SourceMode;

bool is_skipped_by_old_agents(SourceMode mode) {
  return mode != SourceMode::cluster_ip && mode != SourceMode::load_balancer_ip;
}

IPRuleConfig::Spec spec_of(const DesiredConfig& wanted) {
  const Tuple& tuple = wanted.tuple;
  IPRuleConfig::Spec spec;
  spec.service_ip = tuple.source.text();
  // An agent of the old project would program any table it finds under an address it does not understand.
  (is_skipped_by_old_agents(tuple.mode) ? spec.route_table : spec.table) = tuple.table;
  spec.priority = wanted.is_priority_given ? tuple.priority : 0;
  spec.node_selector = tuple.node_selector;
  spec.vrf = tuple.vrf;
  spec.source_mode = tuple.mode;
  if (tuple.mode == SourceMode::reply && !tuple.prefer_main) spec.prefer_main = false;
  spec.source_ips = wanted.sources;
  return spec;
}

std::vector<meta::OwnerReference> owners_of(const DesiredConfig& wanted) {
  std::vector<meta::OwnerReference> out;
  for (const api::IPRule* rule : wanted.owners) {
    out.push_back({.api_version = std::string(api::kApiVersion),
                   .kind = std::string(api::IPRule::kKind),
                   .name = rule->meta.name,
                   .uid = rule->meta.uid,
                   .controller = out.empty(),
                   .block_owner_deletion = true});
  }
  return out;
}

// At most this many names in an annotation that people read; the set itself is not ours to limit.
constexpr std::size_t kMaxListed = 20;

template <typename List, typename Text>
std::string joined(const List& list, Text text) {
  std::string out;
  for (std::size_t i = 0; i < std::min(list.size(), kMaxListed); ++i) {
    out += fmt::format("{}{}", i > 0 ? "," : "", text(list[i]));
  }
  if (list.size() > kMaxListed) out += fmt::format(",+{}", list.size() - kMaxListed);
  return out;
}

// What the controller puts into the metadata of a present object.
struct Marks {
  std::string hash;
  std::string services;
  std::string vips;
  std::vector<meta::OwnerReference> owners;

  Marks(const DesiredConfig& wanted, const IPRuleConfig::Spec& spec)
      : hash(api::spec_hash(spec)),
        services(joined(wanted.services, [](const api::Service* service) { return meta::full_name(service->meta); })),
        vips(joined(wanted.vips, [](const net::Address& vip) { return vip.text(); })),
        owners(owners_of(wanted)) {}

  // Ours are set, what others added is kept.
  void put_on(meta::Meta& meta) const {
    meta.labels.set(api::kManagedByLabel, api::kManagedByValue);
    meta.annotations.set(api::kSpecHash, hash);
    meta.annotations.set(api::kServiceAnnotation, services);
    meta.annotations.set(api::kVipsAnnotation, vips);
    meta.annotations.erase(api::kAbsentSince);
    meta.annotations.erase_prefix(api::kCleanupPrefix);
    std::erase_if(meta.owners, is_rule);
    meta.owners.insert(meta.owners.begin(), owners.begin(), owners.end());
  }

  // Whether put_on() would change nothing; asked of every object in every pass, so it copies nothing.
  bool are_on(const meta::Meta& meta) const {
    const auto is_stale = [](const meta::Labels::Entry& entry) {
      return entry.first == api::kAbsentSince || entry.first.starts_with(api::kCleanupPrefix);
    };
    return meta.labels.get(api::kManagedByLabel) == api::kManagedByValue &&
           meta.annotations.get(api::kSpecHash) == hash && meta.annotations.get(api::kServiceAnnotation) == services &&
           meta.annotations.get(api::kVipsAnnotation) == vips && std::ranges::none_of(meta.annotations, is_stale) &&
           meta.owners.size() >= owners.size() &&
           std::ranges::equal(owners, std::span(meta.owners).first(owners.size())) &&
           std::ranges::none_of(std::span(meta.owners).subspan(owners.size()), is_rule);
  }

  static bool is_rule(const meta::OwnerReference& owner) { return owner.kind == api::IPRule::kKind; }
};

Write create(const DesiredConfig& wanted, std::string name) {
  IPRuleConfig object;
  object.spec = spec_of(wanted);
  object.meta.name = std::move(name);
  Marks(wanted, object.spec).put_on(object.meta);
  return {.step = Write::Step::create, .object = std::move(object)};
}

std::optional<Write> keep(const IPRuleConfig& have, const DesiredConfig& wanted) {
  const bool is_withdrawn = have.spec.state == ConfigState::absent;
  IPRuleConfig::Spec spec = have.spec;
  spec.state = ConfigState::present;
  spec.source_ips = wanted.sources;  // All else of a spec is the tuple, and never changes.
  const Marks marks(wanted, spec);
  const bool is_new_spec = !(spec == have.spec);
  if (!is_new_spec && marks.are_on(have.meta)) return std::nullopt;
  // Withdrawn by us it has no hash and a time; present it has the hash that fits.
  const bool is_drift =
      !have.is_managed() || (is_withdrawn ? !have.meta.annotations.contains(api::kAbsentSince)
                                          : have.meta.annotations.get(api::kSpecHash) != api::spec_hash(have.spec));
  Write out{.step = is_withdrawn ? Write::Step::reactivate : Write::Step::repair,
            .object = have,
            .is_drift = is_drift,
            .is_new_spec = is_new_spec};
  out.object.spec = std::move(spec);
  marks.put_on(out.object.meta);
  return out;
}

Write withdraw(const IPRuleConfig& have, Write::Step step, meta::Time now) {
  const std::string* hash = have.meta.annotations.find(api::kSpecHash);
  Write out{.step = step, .object = have, .is_drift = hash != nullptr && *hash != api::spec_hash(have.spec)};
  out.object.spec.state = ConfigState::absent;
  out.object.meta.annotations.erase(api::kSpecHash);
  out.object.meta.annotations.erase_prefix(api::kCleanupPrefix);
  out.object.meta.annotations.set(api::kAbsentSince, meta::format_time(now));
  return out;
}

// Nodes may hold what it said before somebody changed it, or still clean up.
bool was_published(const IPRuleConfig& config) {
  return config.meta.annotations.contains(api::kSpecHash) || config.meta.annotations.contains(api::kAbsentSince);
}

std::optional<Write> let_go(const IPRuleConfig& have, bool means_a_rule, const Removal& removal, meta::Time now) {
  Write remove{.step = Write::Step::remove, .object = have};
  if (have.meta.terminating()) return std::nullopt;  // Somebody has removed it already.
  if (!removal.withdraws_first() || (!means_a_rule && !was_published(have))) return remove;
  if (!is_withdrawn(have)) return withdraw(have, Write::Step::withdraw, now);
  const bool is_ours = have.meta.annotations.contains(api::kAbsentSince);  // Else the old project withdrew it.
  if (!is_ours) return withdraw(have, Write::Step::restart, now);
  if (removal.is_settled(have)) return remove;
  return std::nullopt;
}

// What is desired, by source.
class Steering {
 public:
  void add(const Tuple& tuple, bool comes_now) {
    by_source_.emplace(std::pair(tuple.mode, tuple.source), Target{.tuple = &tuple, .comes_now = comes_now});
  }
  // Says of a withdrawal what it leaves behind.
  void describe(const Tuple& gone, Write& write) const {
    const auto [first, last] = by_source_.equal_range({gone.mode, gone.source});
    write.is_replaced = first != last;
    write.is_in_the_way = std::any_of(first, last, [&](const auto& entry) {
      const auto& [tuple, comes_now] = entry.second;
      return comes_now || (tuple->priority == gone.priority && may_meet(tuple->node_selector, gone.node_selector));
    });
  }

 private:
  struct Target {
    const Tuple* tuple = nullptr;
    bool comes_now = false;  // This pass brings it, so it may be meant to take a place.
  };

  // Whether a node can have the labels of both.
  static bool may_meet(const meta::Labels& left, const meta::Labels& right) {
    return std::ranges::none_of(left, [&](const meta::Labels::Entry& label) {
      const std::string* other = right.find(label.first);
      return other != nullptr && *other != label.second;
    });
  }

  std::multimap<std::pair<SourceMode, net::Address>, Target> by_source_;
};

// A name is never given to another tuple while any object, ours or not, has it.
std::string take_free_name(const Tuple& tuple, std::unordered_set<std::string>& taken) {
  std::string name = base_name(tuple);
  if (taken.contains(name)) name = full_name(tuple);
  const std::string full = name;
  for (int n = 2; taken.contains(name); ++n) name = fmt::format("{}-{}", full, n);
  taken.insert(name);
  return name;
}

// Of several objects that say the same, the one to keep.
auto preference(const IPRuleConfig& config) {
  return std::tuple(config.meta.terminating(), !config.is_managed(), config.spec.state, config.meta.created,
                    std::string_view(config.meta.name));
}

// The object to keep for each tuple that exists.
std::map<Tuple, const IPRuleConfig*> holders_of_tuples(std::span<const IPRuleConfig* const> existing,
                                                       std::uint32_t default_priority) {
  std::map<Tuple, const IPRuleConfig*> out;
  for (const IPRuleConfig* config : existing) {
    if (!api::is_published(*config)) continue;
    const auto tuple = tuple_of(*config, default_priority);
    if (!tuple) continue;
    const auto [at, is_first] = out.try_emplace(*tuple, config);
    if (!is_first && preference(*config) < preference(*at->second)) at->second = config;
  }
  return out;
}

}  // namespace

std::string_view text(Write::Step step) {
  switch (step) {
    case Write::Step::create:
      return "create";
    case Write::Step::repair:
      return "repair";
    case Write::Step::reactivate:
      return "reactivate";
    case Write::Step::withdraw:
      return "withdraw";
    case Write::Step::restart:
      return "restart";
    case Write::Step::remove:
      return "remove";
  }
  return "remove";
}

bool is_withdrawn(const IPRuleConfig& config) {
  return config.spec.state == ConfigState::absent && !config.meta.annotations.contains(api::kSpecHash);
}

std::optional<Tuple> tuple_of(const IPRuleConfig& config, std::uint32_t default_priority) {
  const IPRuleConfig::Spec& spec = config.spec;
  const auto source = net::Address::parse(spec.service_ip);
  const std::uint32_t table = api::table_of(spec);
  if (!source || (table == 0 && spec.vrf.empty())) return std::nullopt;
  const bool is_shard = spec.source_mode == SourceMode::endpoints || spec.source_mode == SourceMode::local_endpoints;
  const ShardName shard = is_shard ? parse_shard_name(config.meta.name).value_or(ShardName()) : ShardName();
  return Tuple{.mode = spec.source_mode,
               .source = *source,
               .priority = effective_priority(spec.priority, !spec.vrf.empty(), default_priority),
               .table = table,
               .vrf = spec.vrf,
               .node_selector = spec.node_selector,
               .prefer_main = spec.source_mode != SourceMode::reply || spec.prefer_main.value_or(true),
               .group = shard.group,
               .shard = shard.number};
}

std::vector<const IPRuleConfig*> find_published(std::span<const IPRuleConfig* const> existing, const Desired& desired,
                                                std::uint32_t default_priority) {
  const auto holders = holders_of_tuples(existing, default_priority);
  std::vector<const IPRuleConfig*> out;
  out.reserve(desired.configs.size());
  for (const DesiredConfig& wanted : desired.configs) {
    const auto holder = holders.find(wanted.tuple);
    out.push_back(holder != holders.end() ? holder->second : nullptr);
  }
  return out;
}

std::vector<Write> changes(std::span<const IPRuleConfig* const> existing, std::span<const std::string> unread,
                           const Desired& desired, std::uint32_t default_priority, const Removal& removal,
                           meta::Time now) {
  const auto holders = holders_of_tuples(existing, default_priority);
  std::unordered_set<std::string> names(unread.begin(), unread.end());
  for (const IPRuleConfig* config : existing) names.insert(config->meta.name);

  std::vector<Write> out;
  std::unordered_set<const IPRuleConfig*> kept;
  std::vector<Write> created;
  Steering steering;
  for (const DesiredConfig& wanted : desired.configs) {
    const auto holder = holders.find(wanted.tuple);
    if (holder != holders.end() && !holder->second->meta.terminating()) {
      kept.insert(holder->second);
      steering.add(wanted.tuple, holder->second->spec.state == ConfigState::absent);
      if (auto write = keep(*holder->second, wanted)) out.push_back(*std::move(write));
      continue;
    }
    steering.add(wanted.tuple, true);
    created.push_back(create(wanted, take_free_name(wanted.tuple, names)));
  }
  out.insert(out.begin(), std::make_move_iterator(created.begin()), std::make_move_iterator(created.end()));

  std::vector<Write> gone;
  for (const IPRuleConfig* config : existing) {
    if (!config->is_managed() || kept.contains(config)) continue;
    const auto tuple = tuple_of(*config, default_priority);
    auto write = let_go(*config, tuple.has_value(), removal, now);
    if (!write) continue;
    if (tuple) steering.describe(*tuple, *write);
    gone.push_back(*std::move(write));
  }
  std::ranges::sort(gone, {}, [](const Write& write) { return std::string_view(write.object.meta.name); });
  out.insert(out.end(), std::make_move_iterator(gone.begin()), std::make_move_iterator(gone.end()));
  return out;
}

}  // namespace intent
