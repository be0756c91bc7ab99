#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/nft_table.h"
#include "state/node_facts.h"

namespace cli {

// Our table as `nft -j list ruleset` (or `list table inet iprule`) printed it, and what else stands there.
struct DumpedTable {
  std::optional<state::NftTable> table;  // Nothing where the dump has none of ours.
  std::vector<std::string> strange;      // What in it we would not have made, each one named.
  // Who translates Service addresses, by what it has left there; unknown where nothing was seen: iptables of the old
  // kind and eBPF leave nothing.
  state::ServiceProxy service_proxy = state::ServiceProxy::unknown;
};

// Who is in which class is read whole. Of the chains that are the same everywhere only the number of rules is looked
// at: how nft writes those differs between its versions.
base::Result<DumpedTable> parse_nft_table(std::string_view json);

}  // namespace cli
