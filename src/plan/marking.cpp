#include "plan/marking.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "state/nft_change.h"

namespace plan {
namespace {

using Elements = std::map<net::Address, std::uint32_t>;

// A rule that finds packets by mark, or by one of these sources.
bool is_about(const state::Rule& rule, const Elements& sources) {
  if (rule.selector.mark) return true;
  return rule.selector.from && rule.selector.from->is_host() && sources.contains(rule.selector.from->address());
}

Obstacle obstacle(std::string reason) {
  return {.desired = fmt::format("nft table inet {}", state::kNftTableName), .reason = std::move(reason)};
}

}  // namespace

Changes diff_nft(const state::NetState& observed, const state::NetState& desired) {
  Changes out;
  if (desired.nft) {
    if (const auto valid = state::validate(*desired.nft); !valid) {
      out.obstacles.push_back(obstacle(valid.error().message()));
      return out;
    }
  }
  if (!observed.nft_unknown.empty()) {
    if (desired.nft) out.obstacles.push_back(obstacle(observed.nft_unknown));
    return out;
  }
  auto change = state::diff(observed.nft, observed.nft_strange, desired.nft);
  if (!change.empty()) {
    out.make.emplace_back(ChangeNft{std::make_shared<const state::NftChange>(std::move(change))});
  }
  return out;
}

bool is_needed_before(const Op& op, const state::NftChange& change) {
  const auto* const added = std::get_if<AddRule>(&op);
  return added != nullptr && is_about(added->rule, change.remove_sources);
}

bool must_wait_for(const Op& op, const state::NftChange& change) {
  const auto* const removed = std::get_if<RemoveRule>(&op);
  return removed != nullptr && is_about(removed->rule, change.add_sources);
}

}  // namespace plan
