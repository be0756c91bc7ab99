#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/clock.h"

namespace runtime {

// The progress of one loop, seen from outside. The loop beats while it works and rests while it waits for work; silence
// longer than `limit` in the midst of work is trouble. A thread that merely answers probes proves nothing.
class Heartbeat {
 public:
  Heartbeat(std::string name, base::Duration limit, const base::Clock& clock);

  // The loop's thread.
  void beat() { last_ = clock_.now().time_since_epoch().count(); }
  void rest() { last_ = kResting; }

  // Any thread. "no progress for 130 s", or nothing.
  std::optional<std::string> trouble() const;
  const std::string& name() const { return name_; }

 private:
  static constexpr base::Duration::rep kResting = base::Duration::min().count();

  const std::string name_;
  const base::Duration limit_;
  const base::Clock& clock_;
  std::atomic<base::Duration::rep> last_ = kResting;
};

}  // namespace runtime
