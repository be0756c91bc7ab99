#include "kernel/nft/own_table.h"

#include "kernel/nft/table.h"

namespace kernel::nft {
namespace {

// What was read is of one instant. What changes right after it is news for the next call; a few tries spare the caller
// that.
constexpr int kTries = 4;

}  // namespace

base::Result<OwnTable> OwnTable::open() {
  Watch watch = TRY(Watch::open());  // First, so that nothing between the two goes unseen.
  return OwnTable(TRY(Socket::open(Bus::netfilter)), std::move(watch));
}

base::Result<state::ObservedNft> OwnTable::observe() {
  for (int i = 0; i < kTries; ++i) {
    if (TRY(watch_.foreign_change())) known_.reset();
    if (known_) break;
    known_ = TRY(nft::observe(socket_));
    ++listings_;
  }
  return *known_;
}

base::Status OwnTable::apply(const state::NftChange& change) {
  if (change.empty()) return {};
  const auto done = nft::apply(socket_, change);
  if (!done || !known_) {
    known_.reset();
    return done;
  }
  state::apply(change, known_->table);
  known_->strange.clear();
  return {};
}

}  // namespace kernel::nft
