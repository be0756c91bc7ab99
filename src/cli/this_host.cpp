#include "cli/this_host.h"

#include <cstdint>
#include <set>

#include "kernel/nft/lookup.h"
#include "kernel/nft/table.h"
#include "kernel/observe.h"

namespace cli {
namespace {

void read_table(state::NetState& into) {
  auto socket = kernel::Socket::open(kernel::Bus::netfilter);
  const auto table =
      socket ? kernel::nft::observe(*socket) : base::Result<state::ObservedNft>(std::unexpected(socket.error()));
  if (table) {
    into.nft = table->table;
  } else if (!kernel::nft::is_missing(table.error())) {
    into.nft_unknown = table.error().message();
  }
}

}  // namespace

base::Result<ThisHost> ThisHost::open() {
  return ThisHost(TRY(kernel::Socket::open(kernel::Bus::route)));
}

base::Result<state::NetState> ThisHost::observe(std::set<std::uint32_t> tables) {
  // First rules and links, which say what tables there are to read.
  kernel::ObserveOptions options{.routing = true, .protocols = {}};
  const auto first = TRY(kernel::observe(socket_, {}, options));
  tables.insert({state::kTableMain, state::kTableLocal});
  for (const state::Rule& rule : state::state_of(first).rules) tables.insert(rule.table);
  for (const state::ObservedLink& seen : state::state_of(first).observed_links) tables.insert(seen.link.table);
  tables.erase(0);
  options.tables.assign(tables.begin(), tables.end());
  const auto seen = TRY(kernel::observe(socket_, {}, options));
  state::NetState out = state::state_of(seen);
  read_table(out);
  return out;
}

}  // namespace cli
