#include "agent/damped_labels.h"

namespace agent {

const meta::Labels& DampedLabels::note(const meta::Labels& seen, base::TimePoint now) {
  due_.reset();
  if (!present_) return present_.emplace(seen);
  if (*present_ == seen) return *present_;
  if (changed_ && now < *changed_ + kPause) {
    due_ = *changed_ + kPause;
    return *present_;
  }
  changed_ = now;
  return present_.emplace(seen);
}

}  // namespace agent
