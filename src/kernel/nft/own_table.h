#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "kernel/nft/watch.h"
#include "state/nft_change.h"

namespace kernel::nft {

// Our table as its one owner sees it. Reading a large map costs more than all changes of a day, so what was written is
// remembered, and the kernel is asked only at first, after anybody else touched the table, after a failed change, and
// when the owner wants to be sure. Belongs to the network namespace in which it was opened; one thread at a time.
//
//   auto table = TRY(kernel::nft::OwnTable::open());
//   const auto todo = state::diff(TRY(table.observe()), desired);
//   TRY(table.apply(todo));
class OwnTable {
 public:
  static base::Result<OwnTable> open();

  // What is there.
  base::Result<state::ObservedNft> observe();

  // As kernel::nft::apply(), and remembered.
  base::Status apply(const state::NftChange& change);

  // The next observe() asks the kernel, whatever is remembered: for the slow audit.
  void distrust() { known_.reset(); }

  int fd() const { return watch_.fd(); }                // Readable when it is time to observe again.
  std::uint64_t listings() const { return listings_; }  // How often the kernel was asked; for metrics.

 private:
  OwnTable(Socket socket, Watch watch) : socket_(std::move(socket)), watch_(std::move(watch)) {}

  Socket socket_;
  Watch watch_;
  std::optional<state::ObservedNft> known_;
  std::uint64_t listings_ = 0;
};

}  // namespace kernel::nft
