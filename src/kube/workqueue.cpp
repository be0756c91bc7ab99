#include "kube/workqueue.h"

namespace kube {

void WorkQueue::add(const WorkKey& key) {
  schedule_.change([&](WorkSchedule& schedule) { schedule.add(key, clock_.now()); });
}

void WorkQueue::add_after(const WorkKey& key, base::Duration delay) {
  schedule_.change([&](WorkSchedule& schedule) { schedule.add_at(key, clock_.now() + delay); });
}

std::optional<WorkKey> WorkQueue::take(std::stop_token stop) {
  const auto take_one = [&](WorkSchedule& schedule) {
    if (stop.stop_requested()) schedule.close();
    return schedule.take(clock_.now());
  };
  return schedule_.wait(stop, take_one, [](const WorkSchedule& schedule) { return schedule.next_due(); });
}

void WorkQueue::done(const WorkKey& key, const Next& next) {
  schedule_.change([&](WorkSchedule& schedule) {
    const base::TimePoint now = clock_.now();
    switch (next.when()) {
      case Next::When::on_change:
        schedule.forget(key);
        break;
      case Next::When::after:
        schedule.forget(key);
        schedule.add_at(key, now + next.delay());
        break;
      case Next::When::put_off:
        schedule.add_at(key, now + next.delay());
        break;
      case Next::When::retry:
        schedule.retry(key, now);
        break;
      case Next::When::failed:
        schedule.retry(key, now);
        schedule.add_at(key, now + next.delay());
        break;
    }
    schedule.done(key, now);
  });
}

base::Duration WorkQueue::waited(const WorkKey& key) const {
  return schedule_.read([&](const WorkSchedule& schedule) { return schedule.waited(key); });
}

WorkSchedule::Counts WorkQueue::counts() const {
  return schedule_.read([this](const WorkSchedule& schedule) { return schedule.counts(clock_.now()); });
}

}  // namespace kube
