#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace intent {

// Tells what has been unfinished for too long from what is merely under way. Ask once in every pass about everything
// that is unfinished; what is not asked about is finished, and forgotten.
class Patience {
 public:
  explicit Patience(base::Duration longest) : longest_(longest) {}

  void begin_pass(base::TimePoint now) {
    before_ = std::exchange(since_, {});
    now_ = now;
    next_late_.reset();
  }

  bool is_late(const std::string& unfinished) { return is_late(unfinished, longest_); }

  // The same for what may take longer.
  bool is_late(const std::string& unfinished, base::Duration longest) {
    const auto known = before_.find(unfinished);
    const base::TimePoint since = known != before_.end() ? known->second : now_;
    since_[unfinished] = since;
    const base::TimePoint late = since + longest;
    if (late <= now_) return true;
    next_late_ = std::min(next_late_.value_or(late), late);
    return false;
  }

  // When the first of those that are not late will be.
  std::optional<base::TimePoint> next_late() const { return next_late_; }

 private:
  base::Duration longest_;
  base::TimePoint now_{};
  std::map<std::string, base::TimePoint> before_;
  std::map<std::string, base::TimePoint> since_;
  std::optional<base::TimePoint> next_late_;
};

}  // namespace intent
