#include "kernel/nft/table.h"

#include "kernel/nft/decode.h"
#include "kernel/nft/encode.h"

namespace kernel::nft {
namespace {

// The library takes about 2 KiB of memory per element of a transaction.
constexpr std::size_t kSourcesPerTransaction = 2048;

}  // namespace

base::Result<state::ObservedNft> observe(Context& context) {
  const auto flags = TRY(context.table_flags());
  if (!flags) return state::ObservedNft{};
  if (*flags != 0) return state::ObservedNft{.table = state::NftTable{}, .strange = {"the table has flags"}};
  const auto listing = TRY(base::within("list nft table", context.list_table()));
  return decode_table(listing);
}

base::Status apply(Context& context, const state::NftChange& change) {
  if (change.empty()) return {};
  for (const auto& piece : state::split(change, kSourcesPerTransaction)) {
    if (piece.empty()) continue;
    TRY(base::within("change nft table", context.run(encode(piece))));
  }
  return {};
}

}  // namespace kernel::nft
