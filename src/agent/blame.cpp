#include "agent/blame.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace agent {
namespace {

using api::NodeState;
using api::PublishedConfig;
using Configs = kube::View<PublishedConfig>;

constexpr std::string_view kNotAdded = "RuleAddFailed";
constexpr std::string_view kNotRemoved = "RuleDeleteFailed";
constexpr std::string_view kNotMarked = "MarkFailed";

std::string reason_of(const base::Error& error, std::string_view otherwise) {
  return error.fault() == base::Fault::denied ? "NotPermitted" : std::string(otherwise);
}

NodeState::Failed failure(const PublishedConfig& config, std::string reason, std::string message) {
  return {.uid = config.uid,
          .name = config.name,
          .generation = config.generation,
          .reason = std::move(reason),
          .message = std::move(message)};
}

NodeState::Failed failure(const PublishedConfig& config, std::string_view what, const base::Error& error) {
  return failure(config, reason_of(error, what), error.message());
}

std::map<std::string_view, const PublishedConfig*> by_uid(const Configs& configs) {
  std::map<std::string_view, const PublishedConfig*> out;
  for (const auto& object : configs.objects) out.emplace(object->uid, &object->value);
  return out;
}

using Place = std::tuple<net::Prefix, std::uint32_t, std::uint32_t>;  // Source, table, priority.
using Places = std::map<Place, const base::Error*>;                   // With what the kernel said, if anything.

Place place_of(const state::Rule& rule) {
  return {*rule.selector.from, rule.table, rule.priority};
}

const state::Rule* missing_rule(const plan::Op& op) {
  const auto* add = std::get_if<plan::AddRule>(&op);
  return add != nullptr && add->rule.selector.from ? &add->rule : nullptr;
}

Places missing_rules(const Pass& pass) {
  Places out;
  if (is_proof(pass)) {
    for (const plan::Op& op : pass.report.left.ops) out.emplace(place_of(*missing_rule(op)), nullptr);
  }
  for (const RefusedRule& refused : pass.refused) out[place_of(refused.rule)] = &refused.error;
  return out;
}

// Whoever asked for a missing rule has failed.
void blame_missing(const Pass& pass, const Configs& configs, Failures& failures) {
  const Places missing = missing_rules(pass);
  if (missing.empty()) return;
  const auto objects = by_uid(configs);
  for (const intent::Claim& claim : pass.wanted.claims) {
    const auto found = missing.find({net::Prefix::host(claim.source), claim.table, claim.priority});
    const auto config = objects.find(claim.uid);
    if (found == missing.end() || config == objects.end()) continue;
    const base::Error* error = found->second;
    failures.try_emplace(claim.uid, error != nullptr ? failure(*config->second, kNotAdded, *error)
                                                     : failure(*config->second, std::string(kNotAdded), ""));
  }
}

// A stop is no refusal.
const base::Error* refusal_in(const kernel::OpResult& result) {
  const bool is_refused =
      result.effect == kernel::Effect::failed && result.status.error().fault() != base::Fault::cancelled;
  return is_refused ? &result.status.error() : nullptr;
}

// Why the nft table is not as wanted, in the words of the kernel; null where it is, or where nobody has tried.
const base::Error* marking_error(const kernel::Engine::Report& report) {
  const auto is_marking = [](const plan::Op& op) { return std::holds_alternative<plan::ChangeNft>(op); };
  if (std::ranges::none_of(report.left.ops, is_marking)) return nullptr;
  for (std::size_t i = report.done.ops.size(); i-- > 0;) {
    if (!is_marking(report.done.ops[i])) continue;
    if (const auto* error = refusal_in(report.outcome.results.at(i))) return error;
  }
  return nullptr;
}

// Whoever needs marks has failed.
void blame_marking(const Pass& pass, const Configs& configs, Failures& failures) {
  const base::Error* error = marking_error(pass.report);
  if (error == nullptr) return;
  const auto objects = by_uid(configs);
  const auto& table = pass.wanted.state.nft;
  for (const intent::Claim& claim : pass.wanted.claims) {
    const bool is_marked = claim.kind == intent::Claim::Kind::reply || (table && table->sources.contains(claim.source));
    const auto config = objects.find(claim.uid);
    if (!is_marked || config == objects.end()) continue;
    failures.try_emplace(claim.uid, failure(*config->second, kNotMarked, *error));
  }
}

// What the kernel keeps although nobody wants it, with its words.
class Kept {
 public:
  explicit Kept(const Pass& pass)
      : wanted_(pass.wanted.state.nft),
        kernel_(state::state_of(pass.report.after).nft),
        facts_(pass.facts),
        marking_(marking_error(pass.report)) {
    const kernel::Engine::Report& report = pass.report;
    Places refused;
    for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
      const auto* const error = refusal_in(report.outcome.results.at(i));
      const auto* const removal = std::get_if<plan::RemoveRule>(&report.done.ops[i]);
      if (error != nullptr && removal != nullptr && removal->rule.selector.from)
        refused[place_of(removal->rule)] = error;
    }
    for (const plan::Op& op : report.left.ops) {
      const auto* const removal = std::get_if<plan::RemoveRule>(&op);
      if (removal == nullptr || !removal->rule.selector.from) continue;
      if (auto rule = refused.extract(place_of(removal->rule))) rules_.insert(std::move(rule));
    }
  }

  bool is_nothing() const { return rules_.empty() && marking_ == nullptr; }

  // Of what was from that address for that object.
  const base::Error* of(const api::IPRuleConfig::Spec& spec, const net::Address& address) const {
    if (marking_ != nullptr && is_marked(kernel_, spec, address) && !is_marked(wanted_, spec, address)) return marking_;
    const net::Prefix source = net::Prefix::host(address);
    const std::uint32_t table = table_of(spec);
    // Where the object leaves the priority open, whichever was in force.
    const auto found = rules_.lower_bound({source, table, spec.priority});
    if (found == rules_.end()) return nullptr;
    const auto& [its_source, its_table, its_priority] = found->first;
    const bool fits =
        its_source == source && its_table == table && (spec.priority == 0 || spec.priority == its_priority);
    return fits ? found->second : nullptr;
  }

 private:
  std::uint32_t table_of(const api::IPRuleConfig::Spec& spec) const {
    if (spec.vrf.empty()) return api::table_of(spec);
    const auto name = net::InterfaceName::parse(spec.vrf);
    const auto device = name ? facts_.vrfs.find(*name) : facts_.vrfs.end();
    return device != facts_.vrfs.end() ? device->second : 0;
  }

  static bool is_marked(const std::optional<state::NftTable>& table, const api::IPRuleConfig::Spec& spec,
                        const net::Address& address) {
    if (!table) return false;
    return (spec.source_mode == api::SourceMode::reply ? table->vips : table->sources).contains(address);
  }

  const std::optional<state::NftTable>& wanted_;
  const std::optional<state::NftTable>& kernel_;
  const state::NodeFacts& facts_;
  const base::Error* marking_;
  Places rules_;
};

// Withdrawn objects whose rules or marks the kernel does not let go.
void blame_kept(const Pass& pass, const Configs& configs, Failures& failures) {
  const Kept kept(pass);
  if (kept.is_nothing()) return;
  for (const auto& object : configs.objects) {
    const PublishedConfig& config = object->value;
    if (config.is_present()) continue;
    const auto look_at = [&](const std::string& text) {
      const auto address = net::Address::parse(text);
      const base::Error* error = address ? kept.of(config.spec, *address) : nullptr;
      if (error != nullptr) failures.try_emplace(config.uid, failure(config, kNotRemoved, *error));
    };
    look_at(config.spec.service_ip);
    for (const auto& source : config.spec.source_ips) look_at(source.address);
  }
}

bool takes_away(const plan::Op& op) {
  return std::holds_alternative<plan::RemoveRule>(op) || std::holds_alternative<plan::RemoveOpaqueRule>(op);
}

}  // namespace

Failures failures_of(const Pass& pass, const Configs& configs) {
  Failures out;
  for (const NodeState::Failed& failed : pass.wanted.failed) out.emplace(failed.uid, failed);
  blame_missing(pass, configs, out);
  blame_marking(pass, configs, out);
  blame_kept(pass, configs, out);
  return out;
}

std::optional<Doubt> refused_change(const Pass& pass) {
  const auto told = [](const base::Error& error, std::string_view what) {
    return Doubt{.reason = reason_of(error, what), .message = error.message()};
  };
  if (const auto* error = marking_error(pass.report)) return told(*error, kNotMarked);
  const kernel::Engine::Report& report = pass.report;
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    const plan::Op& op = report.done.ops[i];
    const auto* error = takes_away(op) ? refusal_in(report.outcome.results.at(i)) : nullptr;
    if (error != nullptr && std::ranges::find(report.left.ops, op) != report.left.ops.end()) {
      return told(*error, kNotRemoved);
    }
  }
  return std::nullopt;
}

bool is_proof(const Pass& pass) {
  const auto is_missing_rule = [](const plan::Op& op) { return missing_rule(op) != nullptr; };
  return state::is_verified(pass.report.after) && std::ranges::all_of(pass.report.left.ops, is_missing_rule);
}

}  // namespace agent
