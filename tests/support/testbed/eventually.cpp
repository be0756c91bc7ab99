#include "testbed/eventually.h"

#include <algorithm>
#include <thread>

namespace testbed {

testing::AssertionResult eventually(std::string_view what, base::Duration bound, const std::function<bool()>& fact) {
  using std::chrono::milliseconds;
  const auto deadline = std::chrono::steady_clock::now() + bound;
  milliseconds pause{1};
  while (true) {
    const bool last = std::chrono::steady_clock::now() >= deadline;  // Taken before, so the fact gets the whole bound.
    if (fact()) return testing::AssertionSuccess();
    if (last) {
      return testing::AssertionFailure() << "not so after " << std::chrono::duration<double>(bound).count()
                                         << " s: " << what;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(20));
  }
}

}  // namespace testbed
