#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "kube/rate_limit.h"

namespace kube {

using WorkKey = std::string;  // The text of an object's key, or whatever a controller works on.

struct WorkTuning {
  base::Duration first_retry = std::chrono::milliseconds(5);
  base::Duration last_retry = std::chrono::seconds(60);
  Pace retries{.rate = 10, .burst = 100};  // Of all keys together.
};

// Which key to work on next: the laws of client-go's work queue. Pure; the caller brings the time, which never falls.
//  - A key is handed out to one worker at a time.
//  - Any number of adds while it waits are one; any number while it is worked on are exactly one more pass.
//  - Keys are handed out in the order in which they became ready, so none can starve another.
//  - A delayed add makes the key ready at its time, never earlier. Of several delays the shortest holds; a plain add
//    meanwhile does not cancel it.
//  - The n-th retry in a row waits first * 2^(n-1), at most `last_retry`, and longer where all keys together retry
//    more often than the overall rate. forget() starts again from the beginning.
//  - Once closed it takes no new key, drops the delays, and still hands out what is ready and what was added while it
//    was worked on.
class WorkSchedule {
 public:
  struct Counts {
    std::uint64_t adds = 0;  // Keys that became ready.
    std::uint64_t retries = 0;
    std::size_t ready = 0;
    std::size_t delayed = 0;
    std::size_t taken = 0;
    base::Duration unfinished{0};  // For how long those that are taken have been worked on, in sum,
    base::Duration longest{0};     // and the longest of them.
  };

  explicit WorkSchedule(const WorkTuning& tuning = {}) : tuning_(tuning), all_retries_(tuning.retries) {}

  void add(const WorkKey& key, base::TimePoint now);
  void add_at(const WorkKey& key, base::TimePoint due);
  void retry(const WorkKey& key, base::TimePoint now);
  void forget(const WorkKey& key);
  void close();

  std::optional<WorkKey> take(base::TimePoint now);
  base::Duration waited(const WorkKey& key) const;     // Of a key that was taken: from ready to taken.
  void done(const WorkKey& key, base::TimePoint now);  // Of a key that was taken.

  // When take() may give something although nobody calls anything else: the first delay to end.
  std::optional<base::TimePoint> next_due() const;
  Counts counts(base::TimePoint now) const;

 private:
  enum class Place { nowhere, ready, taken };
  struct Entry {
    Place place = Place::nowhere;
    bool again = false;  // Added while it was worked on.
    std::optional<base::TimePoint> due;
    unsigned failures = 0;
    base::TimePoint since{};  // Ready or taken.
    base::Duration waited{0};
  };

  void make_ready(const WorkKey& key, Entry& entry, base::TimePoint now);
  void end_delays(base::TimePoint now);
  void drop_if_idle(const WorkKey& key);
  base::Duration own_delay(unsigned failures) const;

  WorkTuning tuning_;
  bool closed_ = false;
  std::unordered_map<WorkKey, Entry> entries_;
  std::deque<WorkKey> ready_;
  std::set<std::pair<base::TimePoint, WorkKey>> delays_;
  TokenBucket all_retries_;
  std::uint64_t adds_ = 0;
  std::uint64_t retries_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace kube
