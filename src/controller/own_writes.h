#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace controller {

// Whether a view of a kind has caught up with our own writes to it: decided on one that lacks the last write, a pass
// would do it again.
class OwnWrites {
 public:
  void note(const std::string& answer);  // The server's, to a create or an update.

  // Not for ever: a storage that was restored from a backup counts from a lower number.
  bool are_in(std::uint64_t view_version) const;

 private:
  std::uint64_t version_ = 0;
  base::TimePoint at_{};
};

}  // namespace controller
