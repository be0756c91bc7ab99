#include "kube/elector.h"

#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "kube/seeds_test.h"
#include "kube/simulated_world_test.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

base::TimePoint at(double seconds) {
  return base::TimePoint(std::chrono::duration_cast<base::Duration>(Seconds(1000 + seconds)));
}

// Candidates with clocks of their own, a slow and lossy network, pauses, crashes and orderly stops, and somebody who
// deletes the Lease; one integer decides everything.
class World {
 public:
  World(std::uint64_t seed, double fastest_clock, int candidates) : world_(seed) {
    for (int i = 0; i < candidates; ++i) start(draw(1.0, fastest_clock), draw(0, 3));
    if (chance(0.5)) world_.in(draw(0, 280), [this] { delete_lease(); });
  }

  void run_until(double end) { world_.run_until(end); }

  int two_leaders_seen = 0;
  int times_led = 0;
  int crashes = 0;
  int releases = 0;
  int deletions = 0;
  double led_last = 0;

 private:
  struct Candidate {
    Candidate(const std::string& name, double clock_rate, double clock_offset, unsigned seed)
        : elector(name, {}, seed), rate(clock_rate), offset(clock_offset) {}
    base::TimePoint clock(double real) const { return at(real * rate + offset); }
    double real(base::TimePoint local) const {
      return (std::chrono::duration_cast<Seconds>(local - at(0)).count() - offset) / rate;
    }

    Elector elector;
    double rate;
    double offset;
    bool dead = false;
  };
  using Who = std::shared_ptr<Candidate>;

  double draw(double least, double most) { return world_.draw(least, most); }
  bool chance(double probability) { return world_.chance(probability); }
  void on(const Who& who, double delay, std::function<void()> act) {
    world_.in(delay, [who, act = std::move(act)] {
      if (!who->dead) act();
    });
  }
  base::TimePoint clock(const Who& who) const { return who->clock(world_.now()); }
  std::string wall() const { return std::to_string(world_.now()); }

  void start(double rate, double delay) {
    ++started_;
    const auto who = std::make_shared<Candidate>("c" + std::to_string(started_), rate, draw(0, 500), started_);
    candidates_.push_back(who);
    on(who, delay, [this, who] { step(who); });
  }

  void step(const Who& who) {
    if (chance(0.01)) return crash(who);
    if (chance(0.01)) return release(who);
    if (chance(0.01)) return on(who, draw(0, 40), [this, who] { step(who); });  // SIGSTOP for a while.
    const Elector::Action action = who->elector.next(clock(who), wall());
    if (const auto* wait = std::get_if<Elector::Wait>(&action)) {
      on(who, std::max(0.0, who->real(wait->until) - world_.now()) + 1e-6, [this, who] { step(who); });
    } else if (const auto* read = std::get_if<Elector::Read>(&action)) {
      ask(who, read->deadline, [this] { return server_.read(); }, &Elector::saw);
    } else if (const auto* write = std::get_if<Elector::Write>(&action)) {
      ask(who, write->deadline, [this, lease = write->lease] { return server_.write(lease); }, &Elector::wrote);
    } else {
      crash(who);  // Losing the lease ends the process; another one takes its place.
    }
  }

  template <typename Serve, typename Told>
  void ask(const Who& who, base::TimePoint deadline, Serve serve, Told told) {
    const double patience = std::max(0.0, who->real(deadline) - world_.now());
    world_.call(patience, serve, [this, who, told](const auto& answer) {
      if (who->dead) return;
      if (answer && *answer) {
        (who->elector.*told)(**answer, clock(who));
        count_leaders();
      } else {
        who->elector.failed(clock(who));
      }
      step(who);
    });
  }

  void count_leaders() {
    int leaders = 0;
    for (const Who& who : candidates_) leaders += who->elector.leading(clock(who)) ? 1 : 0;
    // Who holds a Lease that somebody deletes learns it when he renews it, and leads for that long at most.
    const bool is_excused = deleted_at_ && world_.now() < *deleted_at_ + 10;
    two_leaders_seen += leaders > 1 && !is_excused ? 1 : 0;
    times_led += leaders;
    if (leaders > 0) led_last = world_.now();
  }

  // As a process that is told to stop: it may live on for a while, and what it writes last may be late or lost.
  void release(const Who& who) {
    if (const auto freed = who->elector.release(wall())) {
      ++releases;
      world_.call(2, [this, lease = *freed] { return server_.write(lease); }, [](const auto&) {});
    }
    on(who, draw(0, 5), [this, who] { crash(who); });
  }

  void delete_lease() {
    deletions += server_.stored ? 1 : 0;
    server_.stored.reset();
    deleted_at_ = world_.now();
  }

  void crash(const Who& who) {
    who->dead = true;
    std::erase(candidates_, who);
    ++crashes;
    start(who->rate, draw(0, 5));
  }

  SimulatedWorld world_;
  unsigned started_ = 0;
  SimulatedLease server_;
  std::optional<double> deleted_at_;
  std::vector<Who> candidates_;
};

TEST(Elector, two_never_lead_while_clock_rates_stay_within_lease_to_renew) {
  int times_led = 0;
  int crashes = 0;
  int releases = 0;
  int deletions = 0;
  const Seeds seeds(2000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    World world(seed, 1.5, 3);
    world.run_until(300);
    ASSERT_EQ(world.two_leaders_seen, 0) << "seed " << seed;
    ASSERT_GT(world.led_last, 150) << "seed " << seed << ": nobody led for long";
    times_led += world.times_led;
    crashes += world.crashes;
    releases += world.releases;
    deletions += world.deletions;
  }
  EXPECT_GT(times_led, 50'000);  // The schedules were worth running.
  EXPECT_GT(crashes, 5'000);
  EXPECT_GT(releases, 1'000);
  EXPECT_GT(deletions, 500);
}

// What the lease cannot promise (reliability C4), and the proof that the test above can fail.
TEST(Elector, a_clock_three_times_as_fast_can_make_a_second_leader) {
  int seen = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    World world(seed, 3.0, 3);
    world.run_until(300);
    seen += world.two_leaders_seen;
  }
  EXPECT_GT(seen, 0);
}

class ElectorStep : public testing::Test {
 protected:
  template <typename What>
  What expect(double now) {
    const auto action = elector_.next(at(now), "now");
    const What* what = std::get_if<What>(&action);
    EXPECT_NE(what, nullptr) << "at " << now << " another action, number " << action.index();
    return what == nullptr ? What() : *what;
  }
  void lead(double now) {
    expect<Elector::Read>(now);
    elector_.saw(std::nullopt, at(now));
    write(now);
  }
  void write(double now) {
    Lease stored = expect<Elector::Write>(now).lease;
    stored.resource_version = std::to_string(++version_);
    elector_.wrote(stored, at(now));
  }
  static Lease of_other(int version = 7) {
    Lease lease;
    lease.resource_version = std::to_string(version);
    lease.holder = "other";
    lease.duration = 15s;
    lease.renewed = std::to_string(version);
    lease.transitions = 3;
    return lease;
  }

  Elector elector_{"me", {}, 1};
  int version_ = 100;
};

TEST_F(ElectorStep, an_absent_lease_is_created_and_renewed_every_retry_period) {
  lead(0);
  EXPECT_TRUE(elector_.leading(at(0)));
  EXPECT_EQ(expect<Elector::Wait>(0.1).until, at(2));
  const Lease renewal = expect<Elector::Write>(2).lease;
  EXPECT_EQ(renewal.resource_version, "101");
  EXPECT_EQ(renewal.transitions, 0);
}

TEST_F(ElectorStep, a_renewal_without_answer_is_read_before_it_is_repeated) {
  lead(0);
  expect<Elector::Write>(2);
  elector_.failed(at(7));
  expect<Elector::Read>(9);
  Lease lease = *elector_.seen();
  lease.resource_version = "102";
  elector_.saw(lease, at(9));
  EXPECT_EQ(expect<Elector::Write>(9).lease.resource_version, "102");
}

TEST_F(ElectorStep, leading_ends_ten_seconds_after_the_last_good_write_began) {
  lead(0);
  expect<Elector::Write>(2);
  elector_.wrote(*elector_.seen(), at(4));  // The answer took two seconds; they count.
  expect<Elector::Write>(6);
  elector_.failed(at(11));
  EXPECT_TRUE(elector_.leading(at(11.9)));
  EXPECT_EQ(expect<Elector::Wait>(11).until, at(12));
  EXPECT_FALSE(elector_.leading(at(12)));
  EXPECT_EQ(expect<Elector::Lost>(12).reason, "not renewed for 10 s");
}

TEST_F(ElectorStep, a_lease_taken_by_another_is_lost_at_once) {
  lead(0);
  expect<Elector::Write>(2);
  elector_.failed(at(2));
  expect<Elector::Read>(4);
  elector_.saw(of_other(), at(4));
  EXPECT_FALSE(elector_.leading(at(4)));
  EXPECT_EQ(expect<Elector::Lost>(4).reason, "taken over by other");
}

TEST_F(ElectorStep, a_silent_holder_is_replaced_fifteen_seconds_after_its_last_sign) {
  elector_.saw(of_other(7), at(0));
  elector_.saw(of_other(8), at(5));  // A sign of life.
  elector_.saw(of_other(8), at(19.9));
  expect<Elector::Wait>(19.9);
  elector_.saw(of_other(8), at(20));
  const Lease claim = expect<Elector::Write>(30).lease;
  EXPECT_EQ(claim.holder, "me");
  EXPECT_EQ(claim.resource_version, "8");
  EXPECT_EQ(claim.transitions, 4);
}

TEST_F(ElectorStep, a_write_to_the_lease_that_is_no_renewal_is_no_sign_of_life) {
  elector_.saw(of_other(7), at(0));
  Lease labelled = of_other(7);
  labelled.resource_version = "8";
  elector_.saw(labelled, at(15));
  EXPECT_EQ(expect<Elector::Write>(30).lease.resource_version, "8");
}

TEST_F(ElectorStep, a_released_lease_is_taken_at_once) {
  Lease free = of_other();
  free.holder.clear();
  free.duration = 1s;
  elector_.saw(free, at(0));
  EXPECT_EQ(expect<Elector::Write>(0).lease.holder, "me");
}

TEST_F(ElectorStep, release_gives_up_the_claim_in_the_version_last_written) {
  EXPECT_FALSE(elector_.release("now"));
  lead(0);
  const auto freed = elector_.release("later");
  ASSERT_TRUE(freed);
  EXPECT_EQ(freed->holder, "");
  EXPECT_EQ(freed->resource_version, "101");
  EXPECT_EQ(freed->duration, 1s);
  EXPECT_FALSE(elector_.leading(at(1)));
}

TEST_F(ElectorStep, a_lease_that_somebody_has_deleted_needs_no_release) {
  lead(0);
  expect<Elector::Write>(2);
  elector_.failed(at(2));
  expect<Elector::Read>(4);
  elector_.saw(std::nullopt, at(4));
  EXPECT_FALSE(elector_.release("later"));
  EXPECT_FALSE(elector_.leading(at(4)));
}

TEST_F(ElectorStep, a_claim_whose_answer_was_lost_is_released_when_it_is_seen_to_stand) {
  expect<Elector::Read>(0);
  elector_.saw(std::nullopt, at(0));
  EXPECT_FALSE(elector_.may_have_claimed());
  Lease stored = expect<Elector::Write>(0).lease;
  elector_.failed(at(1));
  EXPECT_TRUE(elector_.may_have_claimed());
  EXPECT_FALSE(elector_.release("later")) << "nobody knows";
  stored.resource_version = "101";
  elector_.saw(stored, at(1));
  EXPECT_FALSE(elector_.may_have_claimed());
  const auto freed = elector_.release("later");
  ASSERT_TRUE(freed);
  EXPECT_EQ(freed->holder, "");
  EXPECT_EQ(freed->resource_version, "101");
}

TEST_F(ElectorStep, a_claim_that_another_was_quicker_with_is_not_released) {
  expect<Elector::Read>(0);
  elector_.saw(std::nullopt, at(0));
  expect<Elector::Write>(0);
  elector_.failed(at(1));
  elector_.saw(of_other(), at(1));
  EXPECT_FALSE(elector_.release("later"));
}

TEST_F(ElectorStep, attempts_to_acquire_are_spread_and_renewals_are_not) {
  elector_.saw(of_other(), at(0));
  const auto until = expect<Elector::Wait>(0).until;
  EXPECT_GE(until, at(1));
  EXPECT_LE(until, at(1.5));
  Elector second("second", {}, 2);
  second.saw(of_other(), at(0));
  EXPECT_NE(std::get<Elector::Wait>(second.next(at(0), "now")).until, until);
}

}  // namespace
}  // namespace kube
