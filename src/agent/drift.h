#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"

namespace agent {

// How often somebody else changes the same thing of ours. Once is put right at once; again and again means that two
// programs want different things, and repairing faster does not decide that.
class Drift {
 public:
  static constexpr std::size_t kOften = 5;
  static constexpr base::Duration kWindow = std::chrono::minutes(1);
  static constexpr base::Duration kPause = std::chrono::seconds(1);

  // `change` says what was done, always in the same words for the same thing.
  void note_repair(std::string_view change, base::TimePoint now);

  // Whether one and the same change had to be made more than a few times within the last minute.
  bool is_often(base::TimePoint now) const { return now < often_until_; }

  // What people can do about it.
  static std::string advice();

  std::size_t remembered() const { return repairs_.size(); }

 private:
  // The latest repairs of one thing, as a ring: the place of the next holds the oldest.
  struct Latest {
    std::array<base::TimePoint, kOften + 1> at{};
    std::size_t next = 0;

    base::TimePoint oldest() const { return at[next]; }
    base::TimePoint newest() const { return at[(next + kOften) % at.size()]; }
  };
  void forget(base::TimePoint before);

  std::unordered_map<std::size_t, Latest> repairs_;  // By the hash of the change.
  base::TimePoint often_until_{};
  base::TimePoint forgotten_{};
};

}  // namespace agent
