#pragma once

#include <optional>

#include "base/clock.h"
#include "meta/labels.h"

namespace agent {

// A node's labels, which decide what it should have. Something that sets and takes one many times a second would have
// rules come and go as often; so a change that comes soon after another waits, and what it has come to by then counts.
class DampedLabels {
 public:
  static constexpr base::Duration kPause = std::chrono::seconds(1);

  // The labels that count.
  const meta::Labels& note(const meta::Labels& seen, base::TimePoint now);

  // When others may count although nothing is new.
  std::optional<base::TimePoint> next_due() const { return due_; }

 private:
  std::optional<meta::Labels> present_;
  std::optional<base::TimePoint> changed_;
  std::optional<base::TimePoint> due_;
};

}  // namespace agent
