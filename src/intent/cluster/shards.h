#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/iprule_config.h"
#include "intent/cluster/desired.h"

namespace intent {

// Many sources of one Service and target are published in shards, so that no object grows without bound. A change of
// one endpoint is an update of one shard.
inline constexpr std::size_t kMostSources = 500;

// Splits what has many sources. An address stays in the shard that has it now; so nothing is withdrawn on its way from
// one object to another, and a change touches one object.
void assign_shards(Desired& desired, std::span<const api::IPRuleConfig* const> existing);

// "iprc-ep-0123456789-2": group and number of a shard, from its name.
struct ShardName {
  std::string group;
  std::uint32_t number = 0;
};
std::optional<ShardName> parse_shard_name(std::string_view name);

// What a group is called: the same for ever for the same Service and target.
std::string group_name(const api::Service& service, const Tuple& tuple);

}  // namespace intent
