#include "kube/elector.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kube {

// Candidates look at the lease every 0.5 to 0.75 retry times, spread by chance. client-go waits for 1 to 2.2 of them;
// a lease that its holder has released would lie idle for so long.
Elector::Elector(std::string identity, const ElectionTiming& timing, std::uint64_t seed)
    : identity_(std::move(identity)),
      timing_(timing),
      jitter_(std::chrono::milliseconds(timing.retry) / 4, std::chrono::milliseconds(timing.retry) / 4, seed) {}

Elector::Action Elector::next(base::TimePoint now, const std::string& wall) {
  if (lost_) return Lost{*lost_};
  if (held_until_ && now >= *held_until_) return lose(fmt::format("not renewed for {} s", timing_.renew.count()));
  if (now < due_) return Wait{held_until_ ? std::min(due_, *held_until_) : due_};

  // Half of the renew time, as client-go has it: a hung connection leaves time for another attempt.
  const base::TimePoint patience = now + timing_.renew / 2;
  const base::TimePoint deadline = held_until_ ? std::min(patience, *held_until_) : patience;
  if (!current_) return Read{deadline};
  write_began_ = now;
  may_have_claimed_ = true;
  return Write{claim(wall), deadline};
}

void Elector::saw(std::optional<Lease> lease, base::TimePoint now) {
  const bool alive = lease && (!seen_ || !seen_->same_claim(*lease));
  if (alive || !lease) seen_at_ = now;
  seen_ = std::move(lease);
  may_have_claimed_ = false;
  if (held_until_ && seen_ && seen_->holder != identity_) {
    lose(fmt::format("taken over by {}", seen_->holder.empty() ? "nobody" : seen_->holder));
  } else if (may_claim(now)) {
    current_ = true;
  } else {
    try_again(now);
  }
}

void Elector::wrote(Lease stored, base::TimePoint now) {
  seen_ = std::move(stored);
  seen_at_ = now;
  current_ = true;
  may_have_claimed_ = false;
  held_until_ = write_began_ + timing_.renew;
  due_ = now + timing_.retry;
}

void Elector::failed(base::TimePoint now) {
  try_again(now);
}

bool Elector::leading(base::TimePoint now) const {
  return held_until_ && now < *held_until_;
}

std::optional<Lease> Elector::release(const std::string& wall) {
  const bool ours = current_ && seen_ && seen_->holder == identity_;  // Somebody may have deleted it.
  held_until_.reset();
  if (!ours) return std::nullopt;
  Lease freed = *seen_;
  freed.holder.clear();
  freed.duration = std::chrono::seconds(1);
  freed.acquired = freed.renewed = wall;
  return freed;
}

bool Elector::may_claim(base::TimePoint now) const {
  if (!seen_ || seen_->holder.empty() || seen_->holder == identity_) return true;
  const auto theirs = seen_->duration > std::chrono::seconds(0) ? seen_->duration : timing_.lease;
  return now >= seen_at_ + theirs;
}

Lease Elector::claim(const std::string& wall) const {
  Lease out;
  out.holder = identity_;
  out.duration = timing_.lease;
  out.acquired = out.renewed = wall;
  if (!seen_) return out;
  out.resource_version = seen_->resource_version;
  out.transitions = seen_->transitions;
  if (seen_->holder == identity_) {
    out.acquired = seen_->acquired;
  } else {
    ++out.transitions;
  }
  return out;
}

void Elector::try_again(base::TimePoint now) {
  current_ = false;
  due_ = held_until_ ? now + timing_.retry : now + std::chrono::milliseconds(timing_.retry) / 2 + jitter_.next();
}

Elector::Lost Elector::lose(std::string reason) {
  held_until_.reset();
  lost_ = std::move(reason);
  return {*lost_};
}

}  // namespace kube
