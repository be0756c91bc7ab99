#pragma once

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "meta/condition.h"

namespace controller {

// Statuses that differ only in what they tell people (counts in a message, one more node in a list) are written once a
// minute for each object; those that say something else, at once.
class StatusPace {
 public:
  bool is_due(const std::string& uid, bool is_news, base::TimePoint now) const {
    const auto known = written_.find(uid);
    return is_news || known == written_.end() || now - known->second >= kBetween;
  }

  void wrote(const std::string& uid, base::TimePoint now) {
    written_[uid] = now;
    if (written_.size() > kMost) std::erase_if(written_, [&](const auto& one) { return now - one.second >= kBetween; });
  }

 private:
  static constexpr auto kBetween = std::chrono::minutes(1);
  static constexpr std::size_t kMost = 50'000;
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
