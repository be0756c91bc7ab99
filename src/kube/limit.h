#pragma once

#include <stop_token>
#include <utility>

#include "base/clock.h"

namespace kube {

// How long a call may take, and what ends it early.
struct Limit {
  base::TimePoint deadline;
  std::stop_token stop;
  bool urgent = false;  // Leases and acknowledgements: they do not queue up behind bulk writes.

  base::Duration left() const { return deadline - base::now(); }
  bool is_over() const { return stop.stop_requested() || left() <= base::Duration::zero(); }
};

inline Limit within(base::Duration time, std::stop_token stop = {}) {
  return {.deadline = base::now() + time, .stop = std::move(stop)};
}

}  // namespace kube
