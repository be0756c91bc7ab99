#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "kernel/nft/traced_packets.h"

namespace kernel::nft {

// How long to listen for `count` packets: until the deadline, or until so many have begun; and from then on for as long
// as a packet takes, so that none of those that have begun is called lost because it came late.
class TraceWait {
 public:
  // A packet is through a host in microseconds; one that is not heard of for so long has been taken away.
  static constexpr std::chrono::milliseconds kOnItsWay{200};

  TraceWait(std::size_t count, base::TimePoint deadline) : awaited_(count), until_(deadline) {}

  base::TimePoint until() const { return until_; }

  // After all that was told by now has been taken.
  bool goes_on(const TracedPackets& traced, base::TimePoint now) {
    if (!has_begun_ && (traced.packets().size() >= awaited_ || now >= until_)) {
      has_begun_ = true;
      awaited_ = std::min(awaited_, traced.packets().size());
      until_ = now + kOnItsWay;
    }
    return traced.awaited(awaited_) > 0 && now < until_;
  }

 private:
  std::size_t awaited_;
  base::TimePoint until_;
  bool has_begun_ = false;  // All that are waited for.
};

}  // namespace kernel::nft
