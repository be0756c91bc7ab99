#include "intent/node/source_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dataplane/compile.h"
#include "intent/cluster/desired.h"
#include "net/special_address.h"

namespace intent {
namespace {

using api::PublishedConfig;
using api::SourceMode;
using Reason = Refusal::Reason;
using Trust = PublishedConfig::Trust;

struct Wish {
  Claim claim;
  const PublishedConfig* config;

  // The older object keeps what two of them want differently, so that a change in flight shows one answer everywhere.
  auto order() const {
    return std::tie(claim.kind, claim.source, claim.priority, config->epoch, config->name, claim.table);
  }
};

class Compiler {
 public:
  Compiler(const NodeView& view, const NodeMemory& last) : view_(view), last_(last) {}

  NodeIntent run() {
    for (const PublishedConfig* config : view_.configs) {
      if (!config->is_present() || config->trust == Trust::unmanaged) continue;
      // Where no hash proves it the selector may be what was edited.
      const bool is_proven = config->trust == Trust::trusted || config->trust == Trust::unowned;
      if (is_proven && !config->spec.node_selector.matches(view_.labels)) continue;
      wish(*config);
    }
    std::ranges::sort(wishes_, {}, &Wish::order);
    grant();
    steer();
    std::ranges::sort(out_.memory.claims);
    const auto by_name = [](const auto& item) { return std::tie(item.config->name, item.reason, item.message); };
    std::ranges::sort(out_.refusals, {}, by_name);
    std::ranges::sort(out_.warnings, {}, by_name);
    return std::move(out_);
  }

 private:
  void wish(const PublishedConfig& config) {
    if (config.trust == Trust::unowned || config.trust == Trust::unhashed) {
      hold(config);  // What was programmed when it could be believed.
      return refuse(config, Reason::untrusted,
                    config.trust == Trust::unowned ? "no IPRule owns it, so the controller did not make it"
                                                   : "it has no spec-hash, so the controller did not make it");
    }
    if (config.trust == Trust::mismatch) {
      hold(config);
      return refuse(config, Reason::hash_mismatch,
                    "it was changed after the controller wrote it; what was applied before stays");
    }
    const auto table = table_of(config);
    if (!table) return;
    const bool is_reply = config.spec.source_mode == SourceMode::reply;
    for (const net::Address& source : sources_of(config)) {
      if (const auto why = protection(source, is_reply); !why.empty()) {
        refuse(config, Reason::protected_source, fmt::format("{} is {}", source.text(), why));
        continue;
      }
      wishes_.push_back({.claim = {.uid = config.uid,
                                   .kind = is_reply ? Claim::Kind::reply : Claim::Kind::source,
                                   .source = source,
                                   .priority = effective_priority(config.spec.priority, !config.spec.vrf.empty(),
                                                                  view_.default_priority),
                                   .table = *table,
                                   .prefer_main = is_reply && config.spec.prefer_main.value_or(true)},
                         .config = &config});
    }
  }

  // What an address is that must not be steered; empty where it may be. A Service's status is not the administrator's
  // word: whoever may write it could otherwise lead the node's own traffic astray. A reply to the node's own address is
  // told from its other traffic by its connection.
  std::string_view protection(const net::Address& address, bool is_reply) const {
    if (address.is_unspecified()) return "no address of anybody";
    if (net::is_loopback(address)) return "a loopback address, which every host has";
    if (net::is_link_local(address)) return "a link-local address, which means another host on every link";
    if (net::is_multicast(address)) return "a multicast address, which nothing is sent from";
    if (is_reply) return "";
    const auto is_among = [&](const auto& list) { return std::ranges::find(list, address) != std::ranges::end(list); };
    if (view_.facts.own.contains(address) || is_among(view_.addresses)) {
      return "this node's own address: its kubelet and API traffic would follow the rule; use the source mode Reply";
    }
    if (view_.facts.gateways.contains(address)) return "a gateway of this node";
    if (is_among(view_.api_servers)) return "the API server's address";
    return "";
  }

  void hold(const PublishedConfig& config) {
    for (const Claim& claim : std::ranges::equal_range(last_.claims, config.uid, {}, &Claim::uid)) {
      wishes_.push_back({.claim = claim, .config = &config});
    }
  }

  std::optional<std::uint32_t> table_of(const PublishedConfig& config) {
    const auto& spec = config.spec;
    if (!spec.vrf.empty()) {
      const auto name = net::InterfaceName::parse(spec.vrf);
      const auto device = name ? view_.facts.vrfs.find(*name) : view_.facts.vrfs.end();
      if (device != view_.facts.vrfs.end()) return device->second;
      refuse(config, Reason::vrf_not_found, fmt::format("there is no VRF device {} on this node", spec.vrf));
      return std::nullopt;
    }
    if (const std::uint32_t table = api::table_of(spec); table != 0) return table;
    refuse(config, Reason::table_unset, "table 0 is no routing table");
    return std::nullopt;
  }

  std::vector<net::Address> sources_of(const PublishedConfig& config) {
    std::vector<net::Address> out;
    const auto take = [&](const std::string& text) {
      if (const auto address = net::Address::parse(text)) {
        out.push_back(*address);
      } else {
        refuse(config, Reason::bad_address, address.error().message());
      }
    };
    switch (config.spec.source_mode) {
      case SourceMode::cluster_ip:
      case SourceMode::load_balancer_ip:
      case SourceMode::reply:
        take(config.spec.service_ip);
        break;
      case SourceMode::endpoints:
      case SourceMode::local_endpoints:
        for (const auto& source : config.spec.source_ips) {
          const bool is_elsewhere =
              config.spec.source_mode == SourceMode::local_endpoints && source.node_name != view_.node;
          if (!is_elsewhere) take(source.address);
        }
        break;
    }
    return out;
  }

  // One source and priority can look up one table: the first wish gets it, equal ones share it, others wait.
  void grant() {
    const Wish* holder = nullptr;
    for (const Wish& wish : wishes_) {
      const bool is_same_place = holder != nullptr && holder->claim.kind == wish.claim.kind &&
                                 holder->claim.source == wish.claim.source &&
                                 holder->claim.priority == wish.claim.priority;
      if (is_same_place && holder->claim.table != wish.claim.table) {
        refuse(*wish.config, Reason::waiting,
               fmt::format("{} at priority {} still looks up table {} for {}; table {} follows when that is withdrawn",
                           wish.claim.source.text(), wish.claim.priority, holder->claim.table, holder->config->name,
                           wish.claim.table));
        continue;
      }
      if (!is_same_place) {
        if (!is_possible(wish)) continue;
        holder = &wish;
      }
      granted_.push_back(&wish);
    }
  }

  bool is_possible(const Wish& wish) {
    const Claim& claim = wish.claim;
    const state::Rule rule{.family = claim.source.family(),
                           .priority = claim.priority,
                           .selector = {.from = net::Prefix::host(claim.source)},
                           .protocol = view_.protocol,
                           .table = claim.table};
    const auto valid = state::validate(rule);
    if (!valid) refuse(*wish.config, Reason::invalid, valid.error().message());
    return valid.has_value();
  }

  // What was granted, as rules and marks; what cannot be steered after all is refused.
  void steer() {
    auto compiled = dataplane::compile(steering());
    std::set<std::pair<Claim::Kind, net::Address>> refused;
    for (const dataplane::Finding& finding : compiled.findings) {
      if (!finding.refused) continue;
      const auto kind = is_about_replies(finding.code) ? Claim::Kind::reply : Claim::Kind::source;
      for (const net::Address& subject : finding.subjects) refused.emplace(kind, subject);
      for (const Wish* wish : granted_) {
        if (wish->claim.kind != kind || !std::ranges::binary_search(finding.subjects, wish->claim.source)) continue;
        refuse(*wish->config, reason_of(finding.code),
               fmt::format("{}: {}", wish->claim.source.text(), finding.message));
      }
    }
    out_.memory.claims.reserve(granted_.size());  // They stay.
    for (const Wish* wish : granted_) {
      if (refused.contains({wish->claim.kind, wish->claim.source})) continue;
      out_.memory.claims.push_back(wish->claim);
      warn(*wish);
    }
    out_.desired = {.rules = std::move(compiled.rules), .nft = std::move(compiled.table)};
    out_.findings = std::move(compiled.findings);
    out_.look_again = compiled.look_again;
    out_.memory.marks = {.held = std::move(compiled.held), .in_use = last_.marks.in_use};
    out_.memory.decision = compiled.decision;
  }

  dataplane::Steering steering() const {
    dataplane::Steering out{.numbers = {.window = mark_window(view_.facts), .protocol = view_.protocol},
                            .mode = view_.dataplane,
                            .present = last_.decision,
                            .marks = last_.marks,
                            .now = view_.now};
    for (const Wish* wish : granted_) {
      const Claim& claim = wish->claim;
      const dataplane::Target target{.priority = claim.priority, .table = claim.table, .epoch = wish->config->epoch};
      if (claim.kind == Claim::Kind::reply) {
        out.replies.push_back({.vip = claim.source, .target = target, .prefer_main = claim.prefer_main});
      } else {
        out.sources.push_back({.address = claim.source, .target = target});
      }
    }
    out.facts.local = view_.facts.bound;
    out.facts.cluster_prefixes = view_.cluster_prefixes;
    out.facts.nftables = may_mark(view_.facts);
    for (const state::TableUse& use : view_.facts.tables) {
      for (const net::InterfaceName& device : use.devices) {
        const auto filter = view_.facts.reverse_path_filter.find(device);
        if (use.family != net::Family::v4 || filter == view_.facts.reverse_path_filter.end()) continue;
        out.facts.uplinks.push_back({.table = use.table, .device = device, .rp_filter = filter->second});
      }
    }
    return out;
  }

  // What could not be found out is tried.
  static bool may_mark(const state::NodeFacts& facts) {
    return facts.nftables.value_or(true) && facts.capabilities.nft_maps.value_or(true) &&
           facts.capabilities.ct_original.value_or(true);
  }

  static bool is_about_replies(std::string_view code) {
    return code == dataplane::kNoFreeMark || code == dataplane::kPriorityTooLow || code == dataplane::kNoNftables;
  }

  static Reason reason_of(std::string_view code) {
    if (code == dataplane::kNoFreeMark) return Reason::no_free_mark;
    if (code == dataplane::kPriorityTooLow) return Reason::priority_too_low;
    if (code == dataplane::kNoNftables) return Reason::no_nftables;
    if (code == dataplane::kTooManyRules) return Reason::too_many_rules;
    return Reason::protected_source;
  }

  void warn(const Wish& wish) {
    const Claim& claim = wish.claim;
    if (claim.table >= state::kTableDefault && claim.table <= state::kTableLocal) {
      out_.warnings.push_back({.config = wish.config,
                               .reason = Warning::Reason::reserved_table,
                               .message = fmt::format("table {} belongs to the system", claim.table)});
    }
    // Some data paths move the rule for local away from 0 (state::known_numbers).
    if (const auto local = view_.facts.local_rule_priority; local && *local > 0 && claim.priority <= *local) {
      out_.warnings.push_back(
          {.config = wish.config,
           .reason = Warning::Reason::priority_before_local,
           .message = fmt::format("priority {} does not come behind the rule for local, which stands at {} here: "
                                  "packets to the node itself may follow the rule; use one above {} (IPR0313)",
                                  claim.priority, *local, *local)});
    }
    const bool beside_vrfs = claim.priority == state::kPriorityVrf && !view_.facts.vrfs.empty();
    if (wish.config->spec.vrf.empty() && beside_vrfs) {
      out_.warnings.push_back({.config = wish.config,
                               .reason = Warning::Reason::priority_after_vrf,
                               .message = fmt::format("priority {} is that of the kernel's own rule for VRFs, which "
                                                      "this node has: whichever was added first decides about what "
                                                      "comes in by their devices; use another",
                                                      claim.priority)});
    }
    if (!wish.config->spec.vrf.empty() && claim.priority >= state::kPriorityVrf) {
      out_.warnings.push_back(
          {.config = wish.config,
           .reason = Warning::Reason::priority_after_vrf,
           .message =
               fmt::format("priority {} does not come before the kernel's own rule for VRFs, which decides about "
                           "what comes in by their devices; use one below {}",
                           claim.priority, state::kPriorityVrf)});
    }
    if (claim.priority >= state::kPriorityMain) {
      out_.warnings.push_back(
          {.config = wish.config,
           .reason = Warning::Reason::priority_after_main,
           .message = fmt::format("priority {} comes after the table main, whose default route usually wins; use one "
                                  "below {}",
                                  claim.priority, state::kPriorityMain)});
    }
  }

  void refuse(const PublishedConfig& config, Reason reason, std::string message) {
    out_.refusals.push_back({.config = &config, .reason = reason, .message = std::move(message)});
  }

  const NodeView& view_;
  const NodeMemory& last_;
  std::vector<Wish> wishes_;
  std::vector<const Wish*> granted_;
  NodeIntent out_;
};

}  // namespace

std::string_view text(Refusal::Reason reason) {
  switch (reason) {
    case Reason::untrusted:
      return "Untrusted";
    case Reason::hash_mismatch:
      return "HashMismatch";
    case Reason::table_unset:
      return "TableUnset";
    case Reason::bad_address:
      return "BadAddress";
    case Reason::vrf_not_found:
      return "VRFNotFound";
    case Reason::protected_source:
      return "ProtectedSource";
    case Reason::no_nftables:
      return "NoNftables";
    case Reason::no_free_mark:
      return "NoFreeMark";
    case Reason::priority_too_low:
      return "PriorityTooLow";
    case Reason::too_many_rules:
      return "TooManyRules";
    case Reason::waiting:
      return "Waiting";
    case Reason::invalid:
      return "Invalid";
  }
  return "Invalid";
}

std::uint32_t mark_window(const state::NodeFacts& facts) {
  return facts.cilium ? dataplane::kWindowBesideCilium : dataplane::kWindow;
}

NodeIntent compile(const NodeView& view, const NodeMemory& last) {
  return Compiler(view, last).run();
}

}  // namespace intent
