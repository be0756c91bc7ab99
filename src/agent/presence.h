#pragma once

#include <filesystem>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace agent {

inline constexpr std::string_view kPresenceFile = "agent.lock";

// Tells everybody on the host that a standalone agent runs: a lock on a file beside its status, which the kernel takes
// away with the process, however that ends. A status file alone outlives its writer.
class Presence {
 public:
  // A conflict where another agent is announced in that folder.
  static base::Result<Presence> announce(const std::filesystem::path& folder);

 private:
  explicit Presence(base::Fd file) : file_(std::move(file)) {}

  base::Fd file_;
};

// Whether one is announced there now. Whoever may read the folder may ask, and does not take the lock for it.
base::Result<bool> is_announced(const std::filesystem::path& folder);

}  // namespace agent
