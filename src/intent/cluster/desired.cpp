#include "intent/cluster/desired.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "intent/cluster/prefix_trie.h"
#include "intent/cluster/shards.h"
#include "state/rule.h"

namespace intent {
namespace {

using api::SourceMode;

// An accepted IPRule with what matching needs at hand. Its place in the list is its rank: the lower one wins where
// prefixes are equally long.
struct Candidate {
  const api::IPRule* rule;
  RuleOutcome* outcome;
  std::vector<SourceMode> modes;
};

auto precedence(const api::IPRule& rule) {
  const bool is_priority_given = rule.spec.priority != 0;
  return std::tuple(!is_priority_given, rule.spec.priority, rule.meta.created, std::string_view(rule.meta.name));
}

// One load balancer address of one Service, steered by the rule that won it.
struct Contribution {
  SourceMode mode;
  net::Address source;
  int length;          // Of the prefix that matched.
  std::uint32_t rank;  // Of the winner.
  net::Address vip;
  const api::Service* service;

  auto best_first() const {
    return std::tuple(mode, source, -length, rank, vip, std::string_view(service->meta.ns),
                      std::string_view(service->meta.name));
  }
};

// The same for one endpoint of the Service. The two modes of endpoints are one here: an address is an address.
struct EndpointContribution {
  const api::EndpointSlice::Endpoint* endpoint;
  Contribution of;

  auto best_first() const {
    return std::tuple(of.source, -of.length, of.rank, of.vip, std::string_view(of.service->meta.ns),
                      std::string_view(of.service->meta.name), of.mode);
  }
};

bool overlap(const meta::Labels& left, const meta::Labels& right, std::span<const api::Node* const> nodes) {
  if (left == right) return true;
  return std::ranges::any_of(nodes, [&](const api::Node* node) {
    return left.matches(node->meta.labels) && right.matches(node->meta.labels);
  });
}

bool same_target(const Tuple& left, const Tuple& right) {
  return left.table == right.table && left.vrf == right.vrf;
}

template <typename T>
void insert_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

// Services come in any order, and what is kept of their addresses must not depend on it.
void keep_first(std::vector<Shadowing>& kept, const Shadowing& one) {
  const auto order = [](const Shadowing& of) {
    return std::tuple(of.vip, std::string_view(of.service->meta.ns), std::string_view(of.service->meta.name));
  };
  kept.insert(std::ranges::upper_bound(kept, order(one), {}, order), one);
  if (kept.size() > RuleOutcome::kShadowingsKept) kept.pop_back();
}

class Pass {
 public:
  explicit Pass(const ClusterView& view) : view_(view) {}

  Desired run() {
    accept_rules();
    for (const api::EndpointSlice* slice : view_.slices) slices_[{slice->meta.ns, slice->service}].push_back(slice);
    for (const api::Service* service : view_.services) match(*service);
    std::ranges::sort(contributions_, {}, &Contribution::best_first);
    for (std::size_t first = 0; first < contributions_.size();) first = settle_source(first);
    std::ranges::sort(claims_, {}, &EndpointContribution::best_first);
    for (std::size_t first = 0; first < claims_.size();) first = settle_endpoint(first);
    for (auto& [key, group] : groups_) out_.configs.push_back(std::move(group));
    finish();
    return std::move(out_);
  }

 private:
  void accept_rules() {
    out_.rules.reserve(view_.rules.size());
    for (const api::IPRule* rule : view_.rules) {
      if (rule->meta.terminating()) continue;  // Its author has withdrawn it.
      out_.rules.push_back({.rule = rule, .acceptance = api::accept(*rule)});
    }
    std::ranges::sort(out_.rules, {},
                      [](const RuleOutcome& outcome) -> std::string_view { return outcome.rule->meta.name; });
    for (RuleOutcome& outcome : out_.rules) {
      if (!outcome.acceptance.accepted()) continue;
      candidates_.push_back({.rule = outcome.rule, .outcome = &outcome, .modes = outcome.rule->modes()});
    }
    std::ranges::sort(candidates_, {}, [](const Candidate& candidate) { return precedence(*candidate.rule); });
    for (std::uint32_t rank = 0; rank < candidates_.size(); ++rank) {
      for (const net::Prefix& prefix : candidates_[rank].outcome->acceptance.prefixes) trie_.insert(prefix, rank);
    }
  }

  void match(const api::Service& service) {
    if (!service.is_load_balancer) return;
    if (service.vips.empty() && service.hostnames > 0) {
      find(service, ServiceFinding::Reason::hostname_only_ingress,
           "the load balancer gave a host name and no address, so no rule can be made from it; use one that "
           "publishes addresses in status.loadBalancer.ingress[].ip");
    }
    std::vector<std::uint32_t> matched;  // Rules that contain any address of this Service.
    for (const net::Address& vip : service.vips) match(service, vip, matched);
    for (const std::uint32_t rank : matched) ++candidates_[rank].outcome->matched_services;
  }

  void match(const api::Service& service, const net::Address& vip, std::vector<std::uint32_t>& matched) {
    containing_.clear();
    int length = 0;
    std::uint32_t winner = 0;
    trie_.containing(vip, [&](int prefix_length, std::span<const std::uint32_t> ranks) {
      length = prefix_length, winner = *std::ranges::min_element(ranks);  // The last call has the longest prefix.
      for (const std::uint32_t rank : ranks) insert_once(containing_, rank);
    });
    if (containing_.empty()) return;
    for (const std::uint32_t rank : containing_) {
      insert_once(matched, rank);
      RuleOutcome& outcome = *candidates_[rank].outcome;
      ++(rank == winner ? outcome.matched_vips : outcome.shadowed_vips);
      if (rank == winner) continue;
      const auto& kept = outcome.shadowings;  // A wide rule loses many.
      if (kept.size() == RuleOutcome::kShadowingsKept && kept.back().vip < vip) continue;
      keep_first(
          outcome.shadowings,
          {.vip = vip, .service = &service, .winner = candidates_[winner].rule, .prefix = net::Prefix(vip, length)});
    }
    for (const SourceMode mode : candidates_[winner].modes) contribute(service, vip, mode, length, winner);
  }

  void contribute(const api::Service& service, const net::Address& vip, SourceMode mode, int length,
                  std::uint32_t winner) {
    const auto add = [&](const net::Address& source) {
      contributions_.push_back(
          {.mode = mode, .source = source, .length = length, .rank = winner, .vip = vip, .service = &service});
    };
    switch (mode) {
      case SourceMode::cluster_ip:
        if (const net::Address* source = cluster_ip_for(service, vip)) add(*source);
        return;
      case SourceMode::load_balancer_ip:
        return add(vip);
      case SourceMode::reply:
        if (!std::ranges::binary_search(service.proxied_vips, vip)) return add(vip);
        find(
            service, ServiceFinding::Reason::proxied_address,
            fmt::format("{} has ipMode Proxy: connections reach the nodes under another address, so its replies cannot "
                        "be told apart; use a load balancer with ipMode VIP, or the source mode Endpoints",
                        vip.text()));
        return;
      case SourceMode::endpoints:
      case SourceMode::local_endpoints:
        return claim_endpoints(service, vip, mode, length, winner);
    }
  }

  void claim_endpoints(const api::Service& service, const net::Address& vip, SourceMode mode, int length,
                       std::uint32_t winner) {
    const auto slices = slices_.find({service.meta.ns, service.meta.name});
    if (slices == slices_.end()) return;
    for (const api::EndpointSlice* slice : slices->second) {
      for (const auto& endpoint : slice->ready) {
        if (endpoint.address.family() != vip.family()) continue;
        claims_.push_back({.endpoint = &endpoint,
                           .of = {.mode = mode,
                                  .source = endpoint.address,
                                  .length = length,
                                  .rank = winner,
                                  .vip = vip,
                                  .service = &service}});
      }
    }
  }

  // The Service's own address of the VIP's family.
  const net::Address* cluster_ip_for(const api::Service& service, const net::Address& vip) {
    const auto found = std::ranges::find(service.cluster_ips, vip.family(), &net::Address::family);
    if (found != service.cluster_ips.end()) return &*found;
    if (service.cluster_ips.empty()) {
      find(service, ServiceFinding::Reason::no_cluster_ip,
           fmt::format("the Service has no cluster address to steer {} by; use the source mode Reply", vip.text()));
    } else {
      find(service, ServiceFinding::Reason::family_mismatch,
           fmt::format("{} is {} and the Service has no cluster address of that family; make it dual-stack or use the "
                       "source mode Reply",
                       vip.text(), net::text(vip.family())));
    }
    return nullptr;
  }

  Tuple tuple_of(const Contribution& from) const {
    const api::IPRule::Spec& spec = candidates_[from.rank].rule->spec;
    return {.mode = from.mode,
            .source = from.source,
            .priority = effective_priority(spec.priority, !spec.vrf.empty(), view_.default_priority),
            .table = spec.vrf.empty() ? spec.table : 0,
            .vrf = spec.vrf,
            .node_selector = spec.node_selector,
            .prefer_main = from.mode != SourceMode::reply || spec.source.prefer_main.value_or(true)};
  }

  // All contributions of one source, the best match first: each joins a tuple that is there, makes a new one, or gives
  // way to one that has its priority for another table.
  std::size_t settle_source(std::size_t first) {
    const auto source = std::tuple(contributions_[first].mode, contributions_[first].source);
    const std::size_t begin = out_.configs.size();
    std::size_t at = first;
    for (; at < contributions_.size(); ++at) {
      const Contribution& from = contributions_[at];
      if (std::tuple(from.mode, from.source) != source) break;
      const Tuple tuple = tuple_of(from);
      const auto kept = std::span(out_.configs).subspan(begin);
      const auto same = std::ranges::find(kept, tuple, &DesiredConfig::tuple);
      if (same != kept.end()) {
        join(*same, from);
        continue;
      }
      const auto rival = std::ranges::find_if(kept, [&](const DesiredConfig& config) {
        return config.tuple.priority == tuple.priority && !same_target(config.tuple, tuple) &&
               overlap(config.tuple.node_selector, tuple.node_selector, view_.nodes);
      });
      if (rival != kept.end()) {
        give_way(from, tuple, *rival);
        continue;
      }
      out_.configs.push_back({.tuple = tuple, .is_priority_given = candidates_[from.rank].rule->spec.priority != 0});
      join(out_.configs.back(), from);
    }
    return at;
  }

  // All claims to one endpoint's address, the best match first: at one priority it can go to one target only.
  std::size_t settle_endpoint(std::size_t first) {
    std::vector<const DesiredConfig*> kept;
    std::size_t at = first;
    for (; at < claims_.size(); ++at) {
      const EndpointContribution& claim = claims_[at];
      if (claim.of.source != claims_[first].of.source) break;
      const Tuple tuple = group_tuple(claim.of);
      const auto rival = std::ranges::find_if(kept, [&](const DesiredConfig* config) {
        return config->tuple.priority == tuple.priority && !same_target(config->tuple, tuple) &&
               overlap(config->tuple.node_selector, tuple.node_selector, view_.nodes);
      });
      if (rival != kept.end()) {
        give_way(claim.of, tuple_of(claim.of), **rival);
        continue;
      }
      DesiredConfig& group = groups_[tuple];
      group.tuple = tuple;
      group.is_priority_given = candidates_[claim.of.rank].rule->spec.priority != 0;
      join(group, claim.of);
      const bool is_local = claim.of.mode == SourceMode::local_endpoints;
      insert_last_once(group.sources,
                       {.address = claim.of.source.text(), .node_name = is_local ? claim.endpoint->node_name : ""});
      kept.push_back(&group);
    }
    return at;
  }

  // Claims come by address, so a copy can only be the last one.
  static void insert_last_once(std::vector<api::IPRuleConfig::SourceIP>& list, api::IPRuleConfig::SourceIP source) {
    if (list.empty() || list.back().address != source.address) list.push_back(std::move(source));
  }

  // The object is the Service's, whatever endpoint it is about.
  Tuple group_tuple(const Contribution& from) const {
    Tuple out = tuple_of(from);
    const auto& own = from.service->cluster_ips;
    const auto same_family = std::ranges::find(own, from.vip.family(), &net::Address::family);
    out.source = same_family != own.end() ? *same_family : from.vip;
    out.group = group_name(*from.service, out);
    return out;
  }

  void join(DesiredConfig& config, const Contribution& from) {
    insert_once(config.owners, candidates_[from.rank].rule);
    insert_once(config.services, from.service);
    insert_once(config.vips, from.vip);
    // Rules that lost the address but say the same own the object too: if the winner goes, it stays and changes hands.
    trie_.containing(from.vip, [&](int, std::span<const std::uint32_t> ranks) {
      for (const std::uint32_t rank : ranks) {
        const api::IPRule::Spec& spec = candidates_[rank].rule->spec;
        const std::uint32_t priority = effective_priority(spec.priority, !spec.vrf.empty(), view_.default_priority);
        const std::uint32_t table = spec.vrf.empty() ? spec.table : 0;
        if (priority == config.tuple.priority && table == config.tuple.table && spec.vrf == config.tuple.vrf) {
          insert_once(config.owners, candidates_[rank].rule);
        }
      }
    });
  }

  void give_way(const Contribution& from, const Tuple& tuple, const DesiredConfig& rival) {
    const auto target = [](const Tuple& of) {
      return of.vrf.empty() ? fmt::format("table {}", of.table) : fmt::format("VRF {}", of.vrf);
    };
    const std::string message = fmt::format(
        "source {} at priority {} goes to {} (IPRule {}), so {} of IPRule {} gives way; give one of them another "
        "priority",
        tuple.source.text(), tuple.priority, target(rival.tuple), rival.owners.front()->meta.name, target(tuple),
        candidates_[from.rank].rule->meta.name);
    insert_once(candidates_[from.rank].outcome->conflicts, message);
    find(*from.service, ServiceFinding::Reason::priority_conflict, message);
  }

  void find(const api::Service& service, ServiceFinding::Reason reason, std::string message) {
    out_.findings.push_back({.service = &service, .reason = reason, .message = std::move(message)});
  }

  void finish() {
    const auto by_name = [](const auto* object) {
      return std::tuple(std::string_view(object->meta.ns), std::string_view(object->meta.name));
    };
    std::ranges::sort(out_.configs, {}, [](const DesiredConfig& config) {
      const Tuple& tuple = config.tuple;
      return std::tie(tuple.source, tuple.priority, tuple.table, tuple);
    });
    for (DesiredConfig& config : out_.configs) {
      std::ranges::sort(std::span(config.owners).subspan(1), {}, by_name);
      std::ranges::sort(config.services, {}, by_name);
      std::ranges::sort(config.vips);
      for (const api::IPRule* owner : config.owners) {
        ++std::ranges::lower_bound(out_.rules, std::string_view(owner->meta.name), {}, [](const RuleOutcome& outcome) {
            return std::string_view(outcome.rule->meta.name);
          })->configs;
      }
    }
    const auto order = [&](const ServiceFinding& finding) {
      return std::tuple(by_name(finding.service), finding.reason, std::string_view(finding.message));
    };
    std::ranges::sort(out_.findings, {}, order);
    const auto copies = std::ranges::unique(out_.findings, {}, order);
    out_.findings.erase(copies.begin(), copies.end());
    for (RuleOutcome& outcome : out_.rules) std::ranges::sort(outcome.conflicts);
  }

  const ClusterView& view_;
  Desired out_;
  std::vector<Candidate> candidates_;  // By rank.
  PrefixTrie<std::uint32_t> trie_;     // Ranks.
  std::vector<Contribution> contributions_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const api::EndpointSlice*>>
      slices_;  // By Service.
  std::vector<EndpointContribution> claims_;
  std::map<Tuple, DesiredConfig> groups_;
  std::vector<std::uint32_t> containing_;
};

}  // namespace

std::uint32_t effective_priority(std::uint32_t priority, bool is_vrf, std::uint32_t default_priority) {
  if (priority != 0) return priority;
  return is_vrf ? std::min(state::kPriorityVrf - 1, default_priority) : default_priority;
}

Desired desired_configs(const ClusterView& view) {
  return Pass(view).run();
}

}  // namespace intent
