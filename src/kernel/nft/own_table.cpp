#include "kernel/nft/own_table.h"

#include "kernel/nft/table.h"

namespace kernel::nft {
namespace {

// A listing is consistent in itself: the library begins again when the ruleset changed under it. What changes right
// after it is news for the next call; a few tries spare the caller that.
constexpr int kTries = 4;

}  // namespace

base::Result<OwnTable> OwnTable::open() {
  Watch watch = TRY(Watch::open());  // First, so that nothing between the two goes unseen.
  return OwnTable(TRY(Context::open()), std::move(watch));
}

base::Result<state::ObservedNft> OwnTable::observe() {
  for (int i = 0; i < kTries; ++i) {
    if (TRY(watch_.foreign_change())) known_.reset();
    if (known_) break;
    known_ = TRY(nft::observe(context_));
    ++listings_;
  }
  return *known_;
}

base::Status OwnTable::apply(const state::NftChange& change) {
  if (change.empty()) return {};
  const auto done = nft::apply(context_, change);
  if (!done || !known_) {
    known_.reset();
    return done;
  }
  state::apply(change, known_->table);
  known_->strange.clear();
  return {};
}

}  // namespace kernel::nft
