#pragma once

#include <chrono>
#include <cstddef>

#include "dataplane/steering.h"

namespace dataplane {

// The kernel walks rules one by one for every packet: many sources are cheaper as marks, a few as plain rules that
// everybody can read.
inline constexpr std::size_t kMarksAbove = 256;
inline constexpr std::size_t kRulesBelow = 192;
inline constexpr std::chrono::minutes kBetweenSwitches{10};

struct Choice {
  Decision decision{};
  std::optional<base::TimePoint> look_again{};  // A switch is due, and may happen then.
};

// What `mode` says; for automatic by the number of sources, with a gap between the two bounds, and at most one switch
// in ten minutes.
Choice choose_backend(Mode mode, const Decision& present, std::size_t sources, base::TimePoint now);

}  // namespace dataplane
