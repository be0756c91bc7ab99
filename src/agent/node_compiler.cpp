#include "agent/node_compiler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace agent {

Wanted NodeCompiler::compile(std::span<const api::PublishedConfig* const> configs, const meta::Labels& labels,
                             bool whole) {
  const intent::NodeView view{.configs = configs, .node = node_, .labels = labels, .addresses = {}, .vrfs = {}};
  intent::NodeIntent intent = intent::compile(view, claims_);
  tell(intent);
  claims_ = std::move(intent.claims);
  // An object that somebody edited says what it should not; what it said before may be known only to the kernel.
  const bool tampered = std::ranges::any_of(intent.refusals, [](const intent::Refusal& refusal) {
    return refusal.reason == intent::Refusal::Reason::hash_mismatch;
  });
  return {.state = std::move(intent.desired), .whole = whole && !tampered};
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
