#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/findings.h"
#include "api/node_state.h"
#include "base/clock.h"

namespace agent {

// What the server holds of this node's report: what we gave it last, until our copy of the object shows more.
class LastReport {
 public:
  // What the server took, and the version it gave to that.
  void wrote(const Findings& findings, api::NodeState::Status status, std::uint64_t version, base::TimePoint now);

  // Null where it holds no answer to the token of these findings.
  const api::NodeState::Status* held(const Findings& findings, base::TimePoint now) const;

 private:
  struct Written {
    std::string uid;
    std::string token;
    std::uint64_t version = 0;
    base::TimePoint at{};
    api::NodeState::Status status;
  };
  std::optional<Written> written_;
};

}  // namespace agent
