#include "offline_flags.h"

namespace iprulectl {

base::Result<std::filesystem::path> OfflineFlags::folder() const {
  if (!state.empty()) return state;
  return base::fail(
      base::Fault::invalid,
      "--offline needs --state, a folder with dumps: rule.json (`ip -j rule`), and as need be rule6.json, "
      "route.json (`ip -j route show table all`), addr.json (`ip -j -d addr`), nft.json (`nft -j list "
      "ruleset`)");
}

void add_offline_flags(CLI::App& word, OfflineFlags& flags, const std::vector<CLI::Option*>& others) {
  auto* state =
      word.add_option(
              "--state", flags.state,
              "Of a host of which this folder has rule.json (`ip -j rule`), rule6.json, route.json (`ip -j route show "
              "table all`), addr.json (`ip -j -d addr`), nft.json (`nft -j list ruleset`)")
          ->type_name("DIR");
  auto* offline =
      word.add_flag("--offline", flags.offline, "Ask neither a cluster nor a kernel: what is there is in --state");
  for (CLI::Option* other : others) {
    state->excludes(other);
    offline->excludes(other);
  }
}

}  // namespace iprulectl
