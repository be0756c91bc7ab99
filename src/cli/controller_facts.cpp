#include "cli/controller_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/version.h"
#include "meta/meta.h"

namespace cli {
namespace {

constexpr std::string_view kManagerContainer = "manager";

template <typename Number>
std::int32_t sum(const ControllerFacts& facts, Number ControllerSet::* number) {
  std::int32_t out = 0;
  for (const ControllerSet& set : facts.sets.value_or(std::vector<ControllerSet>())) out += set.*number;
  return out;
}

// "-leader-elect=true" is the same as "--leader-elect".
base::Result<bool> asks_to_elect(const json::Value& container) {
  const auto arguments = TRY(container["args"].items_or_none());
  for (const json::Value& argument : arguments) {
    const auto text = TRY(argument.string());
    const auto name = text.substr(std::min(text.find_first_not_of('-'), text.size()));
    if (name == "leader-elect" || name == "leader-elect=true") return true;
  }
  return false;
}

}  // namespace

base::Result<ControllerSet> decode_controller_set(const json::Value& deployment) {
  const auto meta = TRY(meta::decode_meta(deployment, meta::Keep::identity()));
  ControllerSet out{.ns = meta.ns, .name = meta.name};
  out.wanted = TRY(deployment["spec"]["replicas"].integer_or<std::int32_t>(1));
  out.ready = TRY(deployment["status"]["readyReplicas"].integer_or<std::int32_t>(0));
  const auto containers = TRY(deployment["spec"]["template"]["spec"]["containers"].items_or_none());
  for (const json::Value& container : containers) {
    if (TRY(container["name"].string_or("")) != kManagerContainer) continue;
    out.version = version_in_image(TRY(container["image"].string_or("")));
    out.elects = TRY(asks_to_elect(container));
  }
  return out;
}

std::int32_t ControllerFacts::wanted() const {
  return sum(*this, &ControllerSet::wanted);
}

std::int32_t ControllerFacts::ready() const {
  return sum(*this, &ControllerSet::ready);
}

std::optional<std::string> why_nobody_publishes(const ControllerFacts& facts, meta::Time now) {
  const bool leads = facts.leader && !facts.leader->holder.empty();
  if (leads && now - facts.leader->renewed <= kLeaderSilence) return std::nullopt;
  if (leads) return fmt::format("its leader {} has given no sign of life", facts.leader->holder);
  if (!facts.is_known()) return std::nullopt;
  if (facts.is_absent()) return "it is not installed";
  if (facts.sets->empty()) return "nobody leads";
  if (facts.ready() == 0) return fmt::format("{}/{} ready, nobody leads", facts.ready(), facts.wanted());
  const bool all_elect = std::ranges::all_of(*facts.sets, &ControllerSet::elects);
  return all_elect ? std::optional<std::string>("nobody leads") : std::nullopt;
}

}  // namespace cli
