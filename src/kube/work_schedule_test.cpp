#include "kube/work_schedule.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kube/seeds_test.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kFirstAdd{};
constexpr base::TimePoint at(base::Duration since_start) {
  return kFirstAdd + since_start;
}

// The same laws in the plainest words: one row per key that anybody ever named, everything by looking at all rows.
struct ScheduleModel {
  struct Row {
    int ready_since = 0;  // A place in the order of becoming ready; 0 is not ready.
    bool taken = false;
    bool again = false;
    std::vector<base::TimePoint> wishes;  // Every delay asked for and not over yet.
    int failures = 0;
  };
  WorkTuning tuning;
  std::map<WorkKey, Row> rows;
  std::vector<base::TimePoint> retry_slots;  // Every one ever given.
  int order = 0;
  bool closed = false;

  void add(const WorkKey& key) {
    Row& row = rows[key];
    if (closed) return;
    if (row.taken) row.again = true;
    if (!row.taken && row.ready_since == 0) row.ready_since = ++order;
  }

  void add_at(const WorkKey& key, base::TimePoint due) {
    if (!closed) rows[key].wishes.push_back(due);
  }

  // The first time from now on that leaves room in the bucket: at most burst + rate * window in every window.
  base::TimePoint free_slot(base::TimePoint now) {
    base::TimePoint tokens_from = retry_slots.empty() ? base::TimePoint::min() : retry_slots.back();
    if (!retry_slots.empty()) tokens_from += 100ms;
    tokens_from = std::max(tokens_from, now - std::lround(tuning.retries.burst - 1) * 100ms);
    retry_slots.push_back(tokens_from);
    return std::max(tokens_from, now);
  }

  void retry(const WorkKey& key, base::TimePoint now) {
    if (closed) return;
    const double wanted = 5.0 * std::pow(2.0, rows[key].failures++);
    const auto own = wanted >= 60'000 ? base::Duration(60s) : std::chrono::milliseconds(std::lround(wanted));
    add_at(key, std::max(now + own, free_slot(now)));
  }

  void close() {
    closed = true;
    for (auto& [key, row] : rows) row.wishes.clear();
  }

  std::optional<WorkKey> take(base::TimePoint now) {
    while (const auto due = next_due()) {
      if (*due > now) break;
      for (auto& [key, row] : rows) {
        if (row.wishes.empty() || *std::ranges::min_element(row.wishes) != *due) continue;
        row.wishes.clear();
        add(key);
      }
    }
    Row* first = nullptr;
    WorkKey name;
    for (auto& [key, row] : rows) {
      if (row.ready_since == 0 || (first != nullptr && first->ready_since < row.ready_since)) continue;
      first = &row;
      name = key;
    }
    if (first == nullptr) return std::nullopt;
    first->ready_since = 0;
    first->taken = true;
    return name;
  }

  void done(const WorkKey& key) {
    Row& row = rows[key];
    row.taken = false;
    if (std::exchange(row.again, false)) row.ready_since = ++order;
  }

  std::optional<base::TimePoint> next_due() const {
    std::optional<base::TimePoint> first;
    for (const auto& [key, row] : rows) {
      for (const auto due : row.wishes) first = std::min(first.value_or(due), due);
    }
    return first;
  }
};

struct Step {
  enum Kind { add, add_at, retry, forget, take, done, pass, close } kind;
  int key;
  std::chrono::milliseconds time;
};

rc::Gen<Step> any_step() {
  const auto kind = rc::gen::weightedElement<Step::Kind>({{6, Step::add},
                                                          {3, Step::add_at},
                                                          {4, Step::retry},
                                                          {2, Step::forget},
                                                          {8, Step::take},
                                                          {6, Step::done},
                                                          {4, Step::pass}});
  const auto time = rc::gen::map(rc::gen::inRange(0, 20'000), [](int n) { return std::chrono::milliseconds(n); });
  return rc::gen::construct<Step>(kind, rc::gen::inRange(0, 6), time);
}

// Runs both and compares all that can be seen of them.
class Comparison {
 public:
  explicit Comparison(const WorkTuning& tuning) : schedule_(tuning) { model_.tuning = tuning; }

  void run(const Step& step) {
    const WorkKey key(1, static_cast<char>('a' + step.key));
    switch (step.kind) {
      case Step::add:
        schedule_.add(key, now_);
        return model_.add(key);
      case Step::add_at:
        schedule_.add_at(key, now_ + step.time);
        return model_.add_at(key, now_ + step.time);
      case Step::retry:
        schedule_.retry(key, now_);
        return model_.retry(key, now_);
      case Step::forget:
        schedule_.forget(key);
        model_.rows[key].failures = 0;
        return;
      case Step::take:
        return take();
      case Step::done:
        return done(static_cast<std::size_t>(step.key));
      case Step::pass:
        now_ += step.time;
        return;
      case Step::close:
        schedule_.close();
        return model_.close();
    }
  }

  void drain() {
    run({Step::close, 0, 0ms});
    do {
      while (!taken_.empty()) done(0);
      take();
    } while (!taken_.empty());
    const auto counts = schedule_.counts(now_);
    RC_ASSERT(counts.ready == 0U && counts.taken == 0U && counts.delayed == 0U);
  }

 private:
  void take() {
    const auto got = schedule_.take(now_);
    RC_ASSERT(got == model_.take(now_));
    RC_ASSERT(schedule_.next_due() == model_.next_due());
    if (!got) return;
    RC_ASSERT(std::ranges::find(taken_, *got) == taken_.end());
    taken_.push_back(*got);
  }

  void done(std::size_t which) {
    if (taken_.empty()) return;
    const auto position = taken_.begin() + static_cast<std::ptrdiff_t>(which % taken_.size());
    schedule_.done(*position, now_);
    model_.done(*position);
    taken_.erase(position);
  }

  WorkSchedule schedule_;
  ScheduleModel model_;
  base::TimePoint now_ = kFirstAdd;
  std::vector<WorkKey> taken_;
};

TEST(WorkSchedule, every_run_of_steps_behaves_as_the_laws_say) {
  const bool held = rc::check("every run of steps behaves as the laws say", [] {
    const int burst = *rc::gen::inRange(1, 5);
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
    Comparison both({.retries = {.rate = 10, .burst = static_cast<double>(burst)}});
    for (const Step& step : steps) both.run(step);
    both.drain();
  });
  EXPECT_TRUE(held);
}

// The same with many more and longer runs from plain random numbers; a failure names its seed.
TEST(WorkSchedule, long_schedules_behave_as_the_laws_say) {
  const Seeds seeds(5000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const rc::Random random(seed);
    const auto steps = rc::gen::container<std::vector<Step>>(60, any_step())(random, 100).value();
    Comparison both({.retries = {.rate = 10, .burst = static_cast<double>(1 + seed % 7)}});
    try {
      for (const Step& step : steps) both.run(step);
      both.drain();
    } catch (const rc::detail::CaseResult& failure) {
      FAIL() << "seed " << seed << ": " << failure.description;
    }
  }
}

TEST(WorkSchedule, adds_during_a_pass_are_exactly_one_more_pass) {
  WorkSchedule schedule;
  schedule.add("a", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), "a");
  for (int i = 0; i < 10; ++i) schedule.add("a", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), std::nullopt);
  schedule.done("a", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), "a");
  schedule.done("a", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), std::nullopt);
}

TEST(WorkSchedule, a_busy_key_goes_to_the_end_of_the_line) {
  WorkSchedule schedule;
  schedule.add("busy", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), "busy");
  schedule.add("busy", kFirstAdd);
  schedule.add("patient", kFirstAdd);
  schedule.done("busy", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), "patient");
}

TEST(WorkSchedule, retries_double_up_to_the_ceiling_and_start_again_after_success) {
  WorkSchedule schedule({.retries = {.rate = 10, .burst = 1000}});
  base::TimePoint now = kFirstAdd;
  std::vector<base::Duration> waits;
  for (int i = 0; i < 16; ++i) {
    schedule.retry("a", now);
    waits.push_back(*schedule.next_due() - now);
    now = *schedule.next_due();
    EXPECT_EQ(schedule.take(now - 1ns), std::nullopt);
    EXPECT_EQ(schedule.take(now), "a");
    schedule.done("a", now);
  }
  EXPECT_EQ(waits[0], 5ms);
  EXPECT_EQ(waits[1], 10ms);
  EXPECT_EQ(waits[13], 40'960ms);
  EXPECT_EQ(waits[14], 60s);
  EXPECT_EQ(waits[15], 60s);
  schedule.forget("a");
  schedule.retry("a", now);
  EXPECT_EQ(*schedule.next_due() - now, 5ms);
}

TEST(WorkSchedule, all_keys_together_retry_at_the_overall_rate) {
  WorkSchedule schedule({.retries = {.rate = 10, .burst = 10}});
  for (int i = 0; i < 30; ++i) schedule.retry(std::to_string(i), kFirstAdd);
  int early = 0;
  while (schedule.take(at(99ms))) ++early;
  EXPECT_EQ(early, 10);
  int late = 0;
  while (schedule.take(at(2s))) ++late;
  EXPECT_EQ(late, 20);
}

TEST(WorkSchedule, a_plain_add_does_not_cancel_a_delay) {
  WorkSchedule schedule;
  schedule.add_at("a", at(10s));
  schedule.add("a", kFirstAdd);
  EXPECT_EQ(schedule.take(kFirstAdd), "a");
  schedule.done("a", kFirstAdd);
  EXPECT_EQ(schedule.take(at(9s)), std::nullopt);
  EXPECT_EQ(schedule.take(at(10s)), "a");
}

TEST(WorkSchedule, it_knows_how_long_keys_wait_and_are_worked_on) {
  WorkSchedule schedule;
  schedule.add("a", kFirstAdd);
  schedule.add("a", at(1s));  // It waits since the first.
  schedule.add_at("b", at(3s));
  EXPECT_EQ(schedule.take(at(2s)), "a");
  EXPECT_EQ(schedule.waited("a"), 2s);
  EXPECT_EQ(schedule.take(at(5s)), "b");
  EXPECT_EQ(schedule.waited("b"), 2s);  // Since its time had come.
  EXPECT_EQ(schedule.counts(at(6s)).unfinished, 5s);
  EXPECT_EQ(schedule.counts(at(6s)).longest, 4s);
  schedule.add("a", at(6s));
  schedule.done("a", at(7s));
  EXPECT_EQ(schedule.counts(at(8s)).unfinished, 3s);
  EXPECT_EQ(schedule.take(at(9s)), "a");
  EXPECT_EQ(schedule.waited("a"), 2s);  // Since it could be taken at all.
}

TEST(WorkSchedule, a_key_that_needs_nothing_is_not_remembered) {
  WorkSchedule schedule;
  schedule.retry("a", kFirstAdd);
  EXPECT_EQ(schedule.take(at(1s)), "a");
  schedule.forget("a");
  schedule.done("a", kFirstAdd);
  const auto counts = schedule.counts(at(1s));
  EXPECT_EQ(counts.ready + counts.delayed + counts.taken, 0U);
  EXPECT_EQ(counts.retries, 1U);
}

TEST(WorkScheduleDeathTest, a_key_that_is_not_taken_cannot_be_done) {
  WorkSchedule schedule;
  EXPECT_DEATH(schedule.done("a", kFirstAdd), "");
  schedule.add("a", kFirstAdd);
  EXPECT_DEATH(schedule.done("a", kFirstAdd), "");
}

}  // namespace
}  // namespace kube
