#include "intent/cluster/replacements.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>
#include <utility>

namespace intent {
namespace {

using api::IPRuleConfig;
using Steered = std::pair<api::SourceMode, net::Address>;

// By objects that nodes are to hold and nobody who can be read asks for.
std::set<Steered> steered_otherwise(std::span<const IPRuleConfig* const> existing, const Desired& desired,
                                    std::uint32_t default_priority) {
  const auto published = find_published(existing, desired, default_priority);
  const std::unordered_set<const IPRuleConfig*> wanted(published.begin(), published.end());
  std::set<Steered> out;
  for (const IPRuleConfig* config : existing) {
    if (!config->is_managed() || is_withdrawn(*config) || config->meta.terminating() || wanted.contains(config)) {
      continue;
    }
    if (const auto tuple = tuple_of(*config, default_priority)) out.emplace(tuple->mode, tuple->source);
  }
  return out;
}

bool brings_a_rule(const Write& write) {
  return write.step == Write::Step::create || write.step == Write::Step::reactivate;
}

}  // namespace

std::vector<Write> take_replacements(std::vector<Write>& writes, std::span<const IPRuleConfig* const> existing,
                                     const Desired& desired, std::uint32_t default_priority) {
  const auto steered = steered_otherwise(existing, desired, default_priority);
  const auto taken = std::ranges::stable_partition(writes, [&](const Write& write) {
    if (!brings_a_rule(write)) return true;
    const auto tuple = tuple_of(write.object, default_priority);
    return !tuple || !steered.contains({tuple->mode, tuple->source});
  });
  std::vector<Write> out(std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  writes.erase(taken.begin(), taken.end());
  return out;
}

}  // namespace intent
