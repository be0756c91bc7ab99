#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/seeds_test.h"
#include "kube/simulated_follower_test.h"
#include "kube/simulated_server_test.h"

// The real list/watch logic and store against a model of the API server, on one thread with a virtual clock. One
// integer decides everything, so a failing run is repeated by its seed. Now and then an object is one that nobody can
// read.
namespace kube {
namespace {

using namespace std::chrono_literals;

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {
    server_.streams = chance(70);
    for (int i = 0; i < 8; ++i) server_.put(fmt::format("o{}", i), "first");
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (chance(40)) change_server();
      if (chance(3)) follower_.hear_from_outside();
      now_ = follower_.step(now_);
    }
  }

  // Without faults the store becomes what the server has, and stays so.
  void settle() {
    follower_.heal();
    for (int i = 0; i < 400; ++i) {
      now_ = follower_.step(now_);
      if (follower_.has_all()) return;
    }
    FAIL() << "never settled: " << follower_.latest()->objects.size() << " objects of " << server_.objects.size();
  }

  const SimulatedFollower& follower() const { return follower_; }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void change_server() {
    // New changes after a restore soon reach the old version numbers again, and then nobody can tell: that is why
    // etcd's restore can skip numbers. Here the server waits until the fall has been noticed.
    if (!follower_.has_noticed_reset()) return;
    const std::string name = fmt::format("o{}", random_() % 10);
    if (chance(70)) {
      server_.put(name, chance(5) ? std::string(kSpoilt) : std::to_string(random_() % 1000));
    } else if (chance(80)) {
      server_.remove(name);
    } else if (chance(50)) {
      server_.compact();
    } else if (chance(20)) {
      server_.restore_backup();
      follower_.cut();
    }
  }

  std::mt19937_64 random_;
  SimulatedServer server_;
  SimulatedFollower follower_{server_, random_, 6min};
  base::TimePoint now_{1h};
};

TEST(ListWatch, whatever_goes_wrong_the_store_ends_up_right_and_never_goes_back) {
  int told_falls = 0;
  int messages = 0;
  int whole_lists = 0;
  const Seeds seeds(1500);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Simulation simulation(seed);
    simulation.run(150);
    simulation.settle();
    if (testing::Test::HasFailure()) return;
    ASSERT_TRUE(simulation.follower().latest()->complete);
    told_falls += simulation.follower().told_falls();
    messages += simulation.follower().messages();
    whole_lists += simulation.follower().whole_lists();
  }
  if (seeds.last - seeds.first < 999) return;
  EXPECT_GT(told_falls, 10);  // The schedules were worth running.
  EXPECT_GT(messages, 5'000);
  EXPECT_GT(whole_lists, 100);
}

}  // namespace
}  // namespace kube
