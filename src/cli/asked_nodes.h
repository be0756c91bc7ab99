#pragma once

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <thread>

#include "cli/ask_node.h"

namespace cli {

// How many nodes have answered, while others are still asked: a bar that draws itself, so that it is also there while
// one of them takes long. Only on a terminal, only after a moment; nothing of it stays.
class AskedNodes {
 public:
  AskedNodes(int descriptor, std::size_t total);  // `total` 0: nobody knows.

  void next() { ++done_; }

 private:
  void draw(const std::stop_token& stop) const;

  int descriptor_;
  std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  std::jthread thread_;  // Last: it uses all of the above.
};

// Asks as `ask` does, and shows on `descriptor` how far that has come, until the last copy of it is gone.
AskNode with_progress(AskNode ask, int descriptor, std::size_t total);

}  // namespace cli
