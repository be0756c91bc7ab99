#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"

namespace agent {

// How often somebody else changes our rules. Once is put right at once; again and again means that two programs want
// different things, and repairing faster does not decide that.
class Drift {
 public:
  static constexpr std::size_t kOften = 5;
  static constexpr base::Duration kWindow = std::chrono::minutes(1);
  static constexpr base::Duration kPause = std::chrono::seconds(1);

  void note_repair(base::TimePoint now);

  // Repairs within the last minute, if they were more than a few.
  std::optional<std::size_t> often(base::TimePoint now) const;

  // What people can do about it.
  static std::string advice();

 private:
  std::deque<base::TimePoint> repairs_;
};

}  // namespace agent
