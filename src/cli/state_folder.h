#pragma once

#include <filesystem>

#include "base/result.h"
#include "state/net_state.h"

namespace cli {

// A host's rules from a folder with dumps: rule.json (`ip -j rule`) and rule6.json (`ip -6 -j rule`), of which one is
// enough, and nft.json (`nft -j list ruleset`), without which our table is unknown where rules look at its marks. What
// a dump has and we do not understand stays in it as opaque: never equal, never touched.
base::Result<state::NetState> read_state_folder(const std::filesystem::path& folder);

}  // namespace cli
