#include "lab/await.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace lab {

bool await(base::Duration bound, const std::function<bool()>& fact) {
  using std::chrono::milliseconds;
  const auto deadline = std::chrono::steady_clock::now() + bound;
  milliseconds pause{1};
  while (true) {
    const bool last = std::chrono::steady_clock::now() >= deadline;  // Taken before, so the fact gets the whole bound.
    if (fact()) return true;
    if (last) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(20));
  }
}

}  // namespace lab
