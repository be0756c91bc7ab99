#pragma once

#include <filesystem>
#include <set>

#include "base/result.h"
#include "net/address.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace cli {

// What a folder of dumps shows of a host, made there with
//
//   ip -j rule >rule.json                       ip -6 -j rule >rule6.json
//   ip -j route show table all >route.json      ip -j -d addr >addr.json      nft -j list ruleset >nft.json
//
// One of the first two is enough. What is not there is not known, which is another thing than not there.
struct DumpedHost {
  // What a dump has and we do not understand stays in it as opaque: never equal, never touched. Our nft table is
  // unknown without nft.json, where rules look at its marks.
  state::NetState state{};
  state::ServiceProxy service_proxy = state::ServiceProxy::unknown;
  std::set<net::Family> routes{};  // Of these the routes of all tables are known.
  bool links = false;
  bool nft = false;
};
base::Result<DumpedHost> read_state_folder(const std::filesystem::path& folder);

}  // namespace cli
