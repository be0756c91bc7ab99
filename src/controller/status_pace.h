#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "meta/condition.h"

namespace controller {

// Statuses that differ only in what they tell people (counts in a message, one more node in a list) are written at most
// once every five seconds for each object; those that say something else, at once. What has to wait is written when its
// time has come, whether anything else happens or not: a status is never older than that.
class StatusPace {
 public:
  static constexpr base::Duration kBetween = std::chrono::seconds(5);

  void begin_pass(base::TimePoint now) {
    now_ = now;
    next_due_.reset();
  }

  // Ask about every status that is to be written. What is not due waits, and counts for next_due().
  bool is_due(const std::string& uid, bool is_news) {
    const auto known = written_.find(uid);
    if (is_news || known == written_.end() || now_ - known->second >= kBetween) return true;
    const base::TimePoint due = known->second + kBetween;
    next_due_ = std::min(next_due_.value_or(due), due);
    return false;
  }

  void wrote(const std::string& uid) {
    written_[uid] = now_;
    if (written_.size() > kMost) {
      std::erase_if(written_, [&](const auto& one) { return now_ - one.second >= kBetween; });
    }
  }

  // When the first of those that wait may be written.
  std::optional<base::TimePoint> next_due() const { return next_due_; }

 private:
  static constexpr std::size_t kMost = 50'000;
  base::TimePoint now_{};
  std::optional<base::TimePoint> next_due_;
  std::unordered_map<std::string, base::TimePoint> written_;
};

// Whether some condition says something else, or another thing for another reason.
inline bool is_news(const std::vector<meta::Condition>& before, const std::vector<meta::Condition>& after) {
  if (before.size() != after.size()) return true;
  for (const meta::Condition& condition : after) {
    const auto* old = meta::find(before, condition.type);
    if (old == nullptr || old->status != condition.status || old->reason != condition.reason ||
        old->observed_generation != condition.observed_generation) {
      return true;
    }
  }
  return false;
}

}  // namespace controller
