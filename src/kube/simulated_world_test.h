#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kube/lease.h"

namespace kube {

// Time, chance and a network, for simulations on one thread: one integer decides everything.
class SimulatedWorld {
 public:
  explicit SimulatedWorld(std::uint64_t seed) : random(seed) {}

  double now() const { return now_; }  // Seconds.
  void in(double delay, std::function<void()> act) { events_.push({now_ + delay, ++order_, std::move(act)}); }
  void run_until(double end) {
    while (!events_.empty() && events_.top().time <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      event.act();
    }
    now_ = std::max(now_, end);
  }

  double draw(double least, double most) { return std::uniform_real_distribution(least, most)(random); }
  bool chance(double probability) { return draw(0, 1) < probability; }

  // `serve` is the server's part of a call. Each way may be slow and either may be lost, which the caller learns when
  // he gives up; a call that was given up may still be served.
  template <typename Serve, typename Answered>
  void call(double give_up, Serve serve, Answered answered) {
    using Answer = decltype(serve());
    const bool arrives = !is_lossy_ || !chance(0.1);
    const double there = way();
    const double back = way();
    if (!arrives || (is_lossy_ && chance(0.1)) || there + back >= give_up) {
      if (arrives) in(there, [serve]() mutable { (void)serve(); });
      in(give_up, [answered]() mutable { answered(std::optional<Answer>()); });
      return;
    }
    in(there, [this, back, serve, answered]() mutable {
      in(back, [answered, answer = std::optional<Answer>(serve())]() mutable { answered(std::move(answer)); });
    });
  }
  double way() { return is_lossy_ && chance(0.05) ? draw(0, 20) : draw(0.001, 0.2); }
  void lose_nothing_more() { is_lossy_ = false; }

  std::mt19937_64 random;

 private:
  struct Event {
    double time;
    int order;
    std::function<void()> act;
    bool operator<(const Event& other) const { return std::pair(other.time, other.order) < std::pair(time, order); }
  };

  double now_ = 0;
  int order_ = 0;
  bool is_lossy_ = true;
  std::priority_queue<Event> events_;
};

// A Lease on a server: a write needs the version that is stored, and is refused otherwise.
struct SimulatedLease {
  std::optional<Lease> stored;
  int version = 0;

  std::optional<std::optional<Lease>> read() const { return stored; }
  std::optional<Lease> write(Lease lease) {
    if (lease.resource_version != (stored ? stored->resource_version : "")) return std::nullopt;
    lease.resource_version = std::to_string(++version);
    return stored = std::move(lease);
  }
};

}  // namespace kube
