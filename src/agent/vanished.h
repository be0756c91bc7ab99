#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/published_config.h"
#include "base/clock.h"
#include "kube/store.h"

namespace agent {

// Published objects that disappeared without having been withdrawn: deleted by garbage collection, by hand, or by a
// controller that makes them anew. They count a little longer, so that making one anew leaves no gap; who withdraws one
// first is obeyed at once.
class Vanished {
 public:
  static constexpr base::Duration kHold = std::chrono::seconds(1);

  using View = kube::View<api::PublishedConfig>;

  // Compares with the view of the last call. Views must be complete.
  void note(std::shared_ptr<const View> view, base::TimePoint now);

  const std::vector<View::Entry>& held() const { return held_; }
  std::optional<base::TimePoint> next_due() const;

 private:
  std::shared_ptr<const View> last_;
  std::vector<View::Entry> held_;
  std::vector<base::TimePoint> due_;  // Of each, in the same order; rising.
};

}  // namespace agent
