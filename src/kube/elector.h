#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/backoff.h"
#include "base/clock.h"
#include "kube/lease.h"

namespace kube {

// client-go's defaults. A holder stops by its own clock `renew` after it began its last successful write; others take
// over by theirs `lease` after they saw that write. So two never lead while no clock runs faster than another by more
// than lease : renew. A process stopped in mid-write can still wake up later: the lease is no fence, and every write
// that matters carries its own precondition.
struct ElectionTiming {
  std::chrono::seconds lease{15};
  std::chrono::seconds renew{10};
  std::chrono::seconds retry{2};
};

// One candidate for a Lease, as a step function: next() says what to do, the answer is told back, and so on. Pure; all
// times are the candidate's own monotonic clock. The identity must be unique to this process.
class Elector {
 public:
  struct Wait {
    base::TimePoint until;
  };
  struct Read {
    base::TimePoint deadline;
  };
  struct Write {
    Lease lease;  // To be created where it has no version, else only over that version.
    base::TimePoint deadline;
  };
  struct Lost {
    std::string reason;
  };
  using Action = std::variant<Wait, Read, Write, Lost>;

  Elector(std::string identity, const ElectionTiming& timing, std::uint64_t seed);

  // `wall` is what the Lease shows to people as the time.
  Action next(base::TimePoint now, const std::string& wall);

  // The answer to the last Read or Write. What failed may have been done: it is read before it is tried again.
  void saw(std::optional<Lease> lease, base::TimePoint now);
  void wrote(Lease stored, base::TimePoint now);
  void failed(base::TimePoint now);

  bool leading(base::TimePoint now) const;
  std::optional<base::TimePoint> held_until() const { return held_until_; }  // While leading, unless renewed.
  const std::optional<Lease>& seen() const { return seen_; }
  bool current() const { return current_; }  // Nothing has failed since seen() was seen.

  // Whether a Write was asked for, and nobody knows what became of it.
  bool may_have_claimed() const { return may_have_claimed_; }

  // What to write to let others take over at once, if what was seen last is a claim of ours; no longer leading then.
  std::optional<Lease> release(const std::string& wall);

 private:
  bool may_claim(base::TimePoint now) const;
  Lease claim(const std::string& wall) const;
  void try_again(base::TimePoint now);
  Lost lose(std::string reason);

  std::string identity_;
  ElectionTiming timing_;
  base::Backoff jitter_;

  std::optional<Lease> seen_;
  base::TimePoint seen_at_;  // When its claim was first seen here.
  bool current_ = false;     // What was seen is the last thing we know to be stored.
  bool may_have_claimed_ = false;
  base::TimePoint due_;                        // Nothing is tried before.
  base::TimePoint write_began_;                // The last Write that was asked for.
  std::optional<base::TimePoint> held_until_;  // Leading, unless renewed, until then.
  std::optional<std::string> lost_;
};

}  // namespace kube
