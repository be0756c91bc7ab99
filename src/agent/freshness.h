#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/cluster_source.h"
#include "base/clock.h"

namespace agent {

// Why an agent cannot say that its node is as published: one word for conditions, and the rest for people.
struct Doubt {
  std::string reason;
  std::string message;

  std::string text() const { return reason + ": " + message; }
  bool operator==(const Doubt&) const = default;
};

// How well the four watches of an agent go. A server that is away for a while makes nothing wrong, and is not worth a
// word; rights that were taken away, or a silence that lasts, are. Rules stay in any case. For the thread of the loop.
class Freshness {
 public:
  static constexpr base::Duration kPatience = std::chrono::minutes(5);

  void note(const ClusterSource::Basis& basis, base::TimePoint now);

  // "NoAccess" where one is refused, else "Stale".
  const std::optional<Doubt>& doubt() const { return doubt_; }
  // For how long the watch that fails for the longest time has done so; 0 where all of them go.
  base::Duration age() const { return age_; }

 private:
  void note(const std::string& resource, const std::optional<base::Error>& trouble, base::TimePoint now);

  std::map<std::string, base::TimePoint> failing_;  // Since when each of them has.
  std::optional<Doubt> doubt_;
  base::Duration age_{};
};

}  // namespace agent
