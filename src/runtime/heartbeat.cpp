#include "runtime/heartbeat.h"

#include <utility>

#include <fmt/format.h>

namespace runtime {

Heartbeat::Heartbeat(std::string name, base::Duration limit, const base::Clock& clock)
    : name_(std::move(name)), limit_(limit), clock_(clock) {}

std::optional<std::string> Heartbeat::trouble() const {
  const base::Duration::rep last = last_;
  if (last == kResting) return std::nullopt;
  const base::Duration silence = clock_.now() - base::TimePoint(base::Duration(last));
  if (silence <= limit_) return std::nullopt;
  return fmt::format("no progress for {} s", std::chrono::floor<std::chrono::seconds>(silence).count());
}

}  // namespace runtime
