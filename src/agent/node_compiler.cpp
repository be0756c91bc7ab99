#include "agent/node_compiler.h"

#include <algorithm>
#include <map>
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

}  // namespace

Wanted NodeCompiler::compile(std::span<const api::PublishedConfig* const> configs, const NodeSettings& settings,
                             bool whole) {
  const intent::NodeView view{.configs = configs,
                              .node = node_,
                              .labels = settings.labels,
                              .addresses = {},
                              .vrfs = {},
                              .default_priority = settings.default_priority,
                              .protocol = settings.protocol};
  intent::NodeIntent intent = intent::compile(view, claims_);
  tell(intent);
  claims_ = std::move(intent.claims);
  // An object that somebody edited says what it should not; what it said before may be known only to the kernel.
  const bool tampered = std::ranges::any_of(intent.refusals, [](const intent::Refusal& refusal) {
    return refusal.reason == intent::Refusal::Reason::hash_mismatch;
  });
  return {.state = std::move(intent.desired),
          .whole = whole && !tampered,
          .failed = failed(intent.refusals),
          .claims = claims_};
}

void NodeCompiler::tell(const intent::NodeIntent& intent) {
  std::string story;
  for (const intent::Refusal& refusal : intent.refusals) {
    story += fmt::format("{} {}: {}; ", refusal.config->name, intent::text(refusal.reason), refusal.message);
  }
  if (story == told_) return;
  if (!story.empty()) base::log::warning("some objects are not programmed as they say", {{"objects", story}});
  told_ = std::move(story);
}

}  // namespace agent
