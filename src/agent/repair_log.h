#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_state.h"
#include "base/clock.h"
#include "meta/time.h"
#include "plan/plan.h"

namespace agent {

// What one pass put right of what others had changed.
struct Repairs {
  std::vector<std::string> changes{};  // In a plan's words, the first RepairLog::kMost of them.
  std::size_t count = 0;               // Of all.
  std::size_t rules_put_back = 0;
  std::size_t rules_wanted = 0;
  bool lost_table = false;  // The whole nft table had to be made again.
  bool often = false;       // The same, again and again.
  std::chrono::milliseconds took{};
  meta::Time at{};

  void add(const plan::Op& op, std::string_view text);  // `text`: of the operation.
};

// What others changed of ours, object by object, the latest first. Bounded, whatever they do.
class RepairLog {
 public:
  static constexpr std::size_t kMost = api::NodeState::kMaxDrift / 2;  // The other half is for what stands beside ours.
  static constexpr base::Duration kTellEvery = std::chrono::minutes(1);

  void note(const Repairs& repairs);

  const std::vector<api::NodeState::Drifted>& latest() const { return latest_; }
  // The same as it is told to the API server: another list once a minute at most, however fast two programs fight.
  const std::vector<api::NodeState::Drifted>& told(base::TimePoint now);

 private:
  void note(api::NodeState::Drifted entry);

  std::vector<api::NodeState::Drifted> latest_;
  std::vector<api::NodeState::Drifted> told_;
  std::optional<base::TimePoint> told_at_;
};

// Rules of others about the same packets at the same priority as one of ours: foreign, left alone.
std::vector<api::NodeState::Drifted> drift_beside_ours(const std::vector<plan::Clash>& clashes);

}  // namespace agent
