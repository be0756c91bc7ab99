#include "kube/work_schedule.h"

#include <algorithm>
#include <cstdlib>

namespace kube {

void WorkSchedule::add(const WorkKey& key, base::TimePoint now) {
  if (closed_) return;
  Entry& entry = entries_[key];
  switch (entry.place) {
    case Place::nowhere:
      return make_ready(key, entry, now);
    case Place::ready:
      return;
    case Place::taken:
      entry.again = true;
      return;
  }
}

void WorkSchedule::add_at(const WorkKey& key, base::TimePoint due) {
  if (closed_) return;
  Entry& entry = entries_[key];
  if (entry.due && *entry.due <= due) return;
  if (entry.due) delays_.erase({*entry.due, key});
  entry.due = due;
  delays_.emplace(due, key);
}

void WorkSchedule::retry(const WorkKey& key, base::TimePoint now) {
  if (closed_) return;
  const base::Duration own = own_delay(entries_[key].failures++);
  ++retries_;
  add_at(key, std::max(now + own, *all_retries_.reserve(now, base::TimePoint::max())));
}

void WorkSchedule::forget(const WorkKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.failures = 0;
  drop_if_idle(key);
}

void WorkSchedule::close() {
  closed_ = true;
  const auto delays = std::exchange(delays_, {});
  for (const auto& [due, key] : delays) {
    entries_.at(key).due.reset();
    drop_if_idle(key);
  }
}

std::optional<WorkKey> WorkSchedule::take(base::TimePoint now) {
  end_delays(now);
  if (ready_.empty()) return std::nullopt;
  WorkKey key = std::move(ready_.front());
  ready_.pop_front();
  Entry& entry = entries_.at(key);
  entry.place = Place::taken;
  entry.waited = now - std::exchange(entry.since, now);
  ++taken_;
  return key;
}

base::Duration WorkSchedule::waited(const WorkKey& key) const {
  return entries_.at(key).waited;
}

void WorkSchedule::done(const WorkKey& key, base::TimePoint now) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.place != Place::taken) std::abort();  // A worker ends what it took.
  Entry& entry = found->second;
  entry.place = Place::nowhere;
  --taken_;
  if (std::exchange(entry.again, false)) {
    make_ready(key, entry, now);
  } else {
    drop_if_idle(key);
  }
}

std::optional<base::TimePoint> WorkSchedule::next_due() const {
  if (delays_.empty()) return std::nullopt;
  return delays_.begin()->first;
}

WorkSchedule::Counts WorkSchedule::counts(base::TimePoint now) const {
  Counts out{.adds = adds_, .retries = retries_, .ready = ready_.size(), .delayed = delays_.size(), .taken = taken_};
  for (const auto& [key, entry] : entries_) {
    if (entry.place != Place::taken) continue;
    out.unfinished += now - entry.since;
    out.longest = std::max(out.longest, now - entry.since);
  }
  return out;
}

void WorkSchedule::make_ready(const WorkKey& key, Entry& entry, base::TimePoint now) {
  entry.place = Place::ready;
  entry.since = now;
  ready_.push_back(key);
  ++adds_;
}

void WorkSchedule::end_delays(base::TimePoint now) {
  while (!delays_.empty() && delays_.begin()->first <= now) {
    const auto [due, key] = std::move(delays_.extract(delays_.begin()).value());
    entries_.at(key).due.reset();
    add(key, due);
  }
}

// A key that waits for nothing and has no failures to remember costs nothing.
void WorkSchedule::drop_if_idle(const WorkKey& key) {
  const auto found = entries_.find(key);
  const Entry& entry = found->second;
  if (entry.place == Place::nowhere && !entry.due && entry.failures == 0) entries_.erase(found);
}

base::Duration WorkSchedule::own_delay(unsigned failures) const {
  base::Duration delay = tuning_.first_retry;
  for (unsigned i = 0; i < failures && delay < tuning_.last_retry; ++i) delay *= 2;
  return std::min(delay, tuning_.last_retry);
}

}  // namespace kube
