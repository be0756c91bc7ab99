#include "agent/node_compiler.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace agent {
namespace {

// An object may have several addresses, each with its own trouble: in the report it stands once.
std::vector<api::NodeState::Failed> failed(std::span<const intent::Refusal> refusals) {
  std::map<std::string_view, api::NodeState::Failed> out;
  for (const intent::Refusal& refusal : refusals) {
    const auto [entry, is_first] = out.try_emplace(refusal.config->uid);
    if (!is_first) {
      entry->second.message += "; " + refusal.message;
      continue;
    }
    entry->second = {.uid = refusal.config->uid,
                     .name = refusal.config->name,
                     .generation = refusal.config->generation,
                     .reason = std::string(intent::text(refusal.reason)),
                     .message = refusal.message};
  }
  std::vector<api::NodeState::Failed> list;
  for (auto& [uid, entry] : out) list.push_back(std::move(entry));
  return list;
}

// Objects that somebody edited, where it is not remembered what they said before: that may be known only to the kernel.
std::vector<const intent::Refusal*> forgotten(std::span<const intent::Refusal> refusals,
                                              std::span<const intent::Claim> claims) {
  std::vector<const intent::Refusal*> out;
  for (const intent::Refusal& refusal : refusals) {
    const bool is_edited = refusal.reason == intent::Refusal::Reason::hash_mismatch ||
                           refusal.reason == intent::Refusal::Reason::untrusted;
    if (!is_edited) continue;
    if (std::ranges::find(claims, refusal.config->uid, &intent::Claim::uid) != claims.end()) continue;
    out.push_back(&refusal);
  }
  return out;
}

std::vector<net::Address> addresses_in(const api::IPRuleConfig::Spec& spec) {
  std::vector<net::Address> out;
  const auto add = [&](const std::string& text) {
    if (const auto address = net::Address::parse(text)) out.push_back(*address);
  };
  add(spec.service_ip);
  for (const auto& source : spec.source_ips) add(source.address);
  return out;
}

bool is_marked_otherwise(const net::Address& address, const state::NetState& kernel, const state::NetState& others) {
  const auto differs = [&](auto elements) {
    if (!kernel.nft || !((*kernel.nft).*elements).contains(address)) return false;
    return !others.nft || !((*others.nft).*elements).contains(address) ||
           ((*others.nft).*elements).at(address) != ((*kernel.nft).*elements).at(address);
  };
  return differs(&state::NftTable::sources) || differs(&state::NftTable::vips);
}

// What the kernel has of ours for such an object, and not for `others`, stays. False where that cannot be told: marks
// are not kept one by one, and where nothing is found the address itself may be what was edited. Who never had a hash
// here has most likely never been applied, and holds up nobody for that.
bool keep(const intent::Refusal& edited, const state::NetState& kernel, std::uint8_t protocol,
          const state::NetState& others, state::NetState& desired) {
  bool is_found = false;
  for (const net::Address& address : addresses_in(edited.config->spec)) {
    if (is_marked_otherwise(address, kernel, others)) return false;
    for (const state::Rule& rule : kernel.rules) {
      if (rule.protocol != protocol || rule.selector.from != net::Prefix::host(address)) continue;
      if (std::ranges::find(others.rules, rule) != others.rules.end()) continue;
      is_found = true;
      if (std::ranges::find(desired.rules, rule) == desired.rules.end()) desired.rules.push_back(rule);
    }
  }
  // Of a list, some may have been taken away.
  const bool is_all = is_found && edited.config->spec.source_ips.empty();
  return is_all || edited.reason != intent::Refusal::Reason::hash_mismatch;
}

// What is programmed as it says, and may yet not do what somebody hopes.
std::vector<std::string> warnings(const intent::NodeIntent& intent) {
  std::vector<std::string> out;
  for (const intent::Warning& warning : intent.warnings) {
    out.push_back(fmt::format("{}: {}", warning.config->name, warning.message));
  }
  for (const dataplane::Finding& finding : intent.findings) {
    if (!finding.refused) out.push_back(fmt::format("{} {}", finding.code, finding.message));
  }
  return out;
}

dataplane::Mode mode_of(api::Dataplane setting) {
  switch (setting) {
    case api::Dataplane::automatic:
      return dataplane::Mode::automatic;
    case api::Dataplane::rules:
      return dataplane::Mode::rules;
    case api::Dataplane::marks:
      return dataplane::Mode::marks;
  }
  return dataplane::Mode::automatic;
}

}  // namespace

Wanted NodeCompiler::compile(std::span<const api::PublishedConfig* const> configs, const NodeSettings& settings,
                             bool whole, const Sight& sight) {
  recall(sight, settings.protocol);
  const intent::NodeView view{.configs = configs,
                              .node = node_,
                              .labels = settings.labels,
                              .addresses = settings.addresses,
                              .api_servers = settings.api_servers,
                              .cluster_prefixes = {settings.cluster_prefixes.begin(), settings.cluster_prefixes.end()},
                              .facts = sight.facts,
                              .dataplane = mode_of(settings.dataplane),
                              .default_priority = settings.default_priority,
                              .protocol = settings.protocol,
                              .now = sight.now};
  intent::NodeIntent intent = intent::compile(view, memory_);
  tell(intent);
  memory_ = std::move(intent.memory);
  if (const auto edited = forgotten(intent.refusals, memory_.claims); !edited.empty()) {
    const state::NetState others = intent.desired;
    for (const auto* one : edited)
      whole = keep(*one, *sight.kernel, settings.protocol, others, intent.desired) && whole;
  }
  return {.state = std::move(intent.desired),
          .whole = whole,
          .failed = failed(intent.refusals),
          .warnings = warnings(intent),
          .claims = memory_.claims,
          .look_again = intent.look_again};
}

// What the kernel holds of an earlier life, or of a pass that was cut short: marks stay with their classes, and one is
// free only when a verified look shows that nothing refers to it.
void NodeCompiler::recall(const Sight& sight, std::uint8_t protocol) {
  const state::NetState& kernel = *sight.kernel;
  const std::uint32_t window = intent::mark_window(sight.facts);
  if (window != window_) memory_.marks = {};  // Those of another window are no marks here.
  window_ = window;
  std::set<std::uint32_t> remembered;
  for (const auto& [key, mark] : memory_.marks.held) remembered.insert(mark);
  auto seen = dataplane::read_back(kernel.rules, kernel.nft, window, protocol, remembered);
  memory_.marks.held.merge(seen.held);
  if (!sight.verified) seen.in_use.merge(memory_.marks.in_use);
  memory_.marks.in_use = std::move(seen.in_use);
  memory_.marks.unremembered = sight.verified ? std::move(seen.unremembered) : decltype(seen.unremembered){};
  if (!has_looked_ && kernel.nft && !kernel.nft->sources.empty()) memory_.decision.backend = dataplane::Backend::marks;
  has_looked_ = true;
}

void NodeCompiler::tell(const intent::NodeIntent& intent) {
  std::string story;
  for (const intent::Refusal& refusal : intent.refusals) {
    story += fmt::format("{} {}: {}; ", refusal.config->name, intent::text(refusal.reason), refusal.message);
  }
  for (const std::string& warning : warnings(intent)) story += warning + "; ";
  if (story == told_) return;
  if (!story.empty()) base::log::warning("some objects are not programmed as they say, or oddly", {{"objects", story}});
  told_ = std::move(story);
}

}  // namespace agent
