#include "dataplane/backend.h"

namespace dataplane {
namespace {

Backend wanted(Mode mode, Backend present, std::size_t sources) {
  if (mode == Mode::rules) return Backend::rules;
  if (mode == Mode::marks) return Backend::marks;
  if (sources > kMarksAbove) return Backend::marks;
  if (sources < kRulesBelow) return Backend::rules;
  return present;
}

}  // namespace

Choice choose_backend(Mode mode, const Decision& present, std::size_t sources, base::TimePoint now) {
  const Backend want = wanted(mode, present.backend, sources);
  if (want == present.backend) return {.decision = present};
  const bool too_soon =
      mode == Mode::automatic && present.switched.has_value() && now < *present.switched + kBetweenSwitches;
  if (too_soon) return {.decision = present, .look_again = *present.switched + kBetweenSwitches};
  return {.decision = {.backend = want, .switched = now}};
}

}  // namespace dataplane
