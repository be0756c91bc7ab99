#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/elector.h"
#include "kube/seeds_test.h"
#include "kube/simulated_follower_test.h"
#include "kube/simulated_server_test.h"
#include "kube/simulated_world_test.h"
#include "kube/work_schedule.h"

// All that a controller is made of, joined: replicas with clocks of their own, each with two reflectors and their
// stores, a work queue and an elector, keep a copy of each object that people wish for. Nothing is theirs alone: some
// clocks are so fast that there are two leaders now and then, and somebody deletes the Lease.
namespace kube {
namespace {

constexpr unsigned kReplicas = 3;
constexpr int kWorkers = 2;
constexpr double kTroubled = 120;  // Seconds in which all goes wrong that can,
constexpr double kRecovery = 200;  // in which it must come right, as back-off may have grown to a minute by then,
constexpr double kAtRest = 60;     // and in which nothing is written.
constexpr double kPatience = 5;    // For the answer to a write.
constexpr base::Duration kEcho = std::chrono::seconds(1);  // Until the view is looked at for it once more.

base::TimePoint at(double seconds) {
  return base::TimePoint(std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(1000 + seconds)));
}

struct Replica {
  Replica(const std::string& name, double clock_rate, SimulatedServer& wished, SimulatedServer& copied,
          std::mt19937_64& random)
      : rate(clock_rate),
        elector(name, {}, random()),
        wishes(wished, random, std::chrono::seconds(10)),
        copies(copied, random, std::chrono::seconds(10)) {}

  base::TimePoint clock(double real) const { return at(real * rate); }
  double real(base::TimePoint local) const { return std::chrono::duration<double>(local - at(0)).count() / rate; }

  const double rate;
  Elector elector;
  SimulatedFollower wishes;
  SimulatedFollower copies;
  SimulatedFollower::Shown seen_wishes = wishes.latest();
  SimulatedFollower::Shown seen_copies = copies.latest();
  WorkSchedule queue;
  std::map<WorkKey, std::uint64_t> written;        // The versions that our writes made.
  int passes = 0;                                  // Under way.
  base::TimePoint wakes = base::TimePoint::max();  // To look at the queue.
  double stopped_until = 0;                        // By a signal.
  bool is_dead = false;
};
using Who = std::shared_ptr<Replica>;

class Replicas {
 public:
  explicit Replicas(std::uint64_t seed) : world_(seed) {
    for (SimulatedServer* const server : {&wishes_, &copies_}) server->streams = world_.chance(0.7);
    for (const char* const name : {"always", "ever"}) wish(name, "the same");
    wishes_.compact();  // So old that no server remembers what was before.
    for (unsigned i = 0; i < kReplicas; ++i) start(world_.chance(0.2) ? 3 : world_.draw(1, 1.5));
    change_wishes();
    do_harm();
  }

  void run() {
    world_.run_until(kTroubled);
    heal();
    world_.run_until(kTroubled + kRecovery);
    ASSERT_EQ(values(copies_), values(wishes_));
    const int sent = sent_;
    world_.run_until(kTroubled + kRecovery + kAtRest);
    ASSERT_EQ(sent_, sent) << "something was written that changes nothing";
  }

  int written() const { return written_; }
  int refused() const { return refused_; }
  int crashes() const { return crashes_; }
  int two_led() const { return two_led_; }

 private:
  struct Write {
    std::string name;
    std::optional<std::string> value;  // None: to be removed.
    const Object<std::string>* over;   // As it was seen; none: it is not there.
  };

  static std::map<std::string, std::string> values(const SimulatedServer& server) {
    std::map<std::string, std::string> out;
    for (const auto& [name, object] : server.objects) out[name] = object.value;
    return out;
  }

  // What goes on around the replicas.

  void wish(const std::string& name, const std::string& value) {
    wishes_.put(name, value);
    wished_.emplace(name, value);
  }

  void change_wishes() {
    if (is_healed_) return;
    const std::string name = fmt::format("o{}", world_.random() % 6);
    if (world_.chance(0.7)) {
      wish(name, std::to_string(world_.random() % 1000));
    } else {
      wishes_.remove(name);
    }
    world_.in(world_.draw(0, 2), [this] { change_wishes(); });
  }

  void do_harm() {
    if (is_healed_) return;
    const Who who = replicas_[world_.random() % replicas_.size()];
    switch (world_.random() % 6) {
      case 0:
        crash(who);
        break;
      case 1:
        release(who);
        break;
      case 2:
        lease_.stored.reset();
        break;
      case 3:
        (world_.chance(0.5) ? wishes_ : copies_).compact();
        break;
      case 4:  // Somebody else changes a copy, or removes it.
        if (const std::string name = fmt::format("o{}", world_.random() % 6); copies_.objects.contains(name)) {
          world_.chance(0.5) ? copies_.put(name, "edited") : copies_.remove(name);
        }
        break;
      default:
        who->stopped_until = world_.now() + world_.draw(0, 40);
    }
    world_.in(world_.draw(0, 12), [this] { do_harm(); });
  }

  void heal() {
    is_healed_ = true;
    world_.lose_nothing_more();
    for (const Who& who : replicas_) heal(who);
  }
  static void heal(const Who& who) {
    who->stopped_until = 0;
    who->wishes.heal();
    who->copies.heal();
  }

  void start(double rate) {
    const auto who = std::make_shared<Replica>(fmt::format("r{}", ++started_), rate, wishes_, copies_, world_.random);
    if (is_healed_) heal(who);
    replicas_.push_back(who);
    on(who, world_.draw(0, 5), [this, who] {
      follow(who, who->wishes);
      follow(who, who->copies);
      elect(who);
    });
  }
  void crash(const Who& who) {
    who->is_dead = true;
    std::erase(replicas_, who);
    ++crashes_;
    start(who->rate);
  }

  // What a replica does.

  void on(const Who& who, double delay, std::function<void()> act) {
    world_.in(delay, [this, who, act = std::move(act)] {
      if (who->is_dead) return;
      if (who->stopped_until > world_.now()) return on(who, who->stopped_until - world_.now(), act);
      act();
    });
  }
  void at_time(const Who& who, base::TimePoint due, double later, std::function<void()> act) {
    on(who, std::max(0.0, who->real(due) - world_.now()) + later, std::move(act));
  }
  base::TimePoint clock(const Who& who) const { return who->clock(world_.now()); }

  void follow(const Who& who, SimulatedFollower& follower) {
    const base::TimePoint due = follower.step(clock(who));
    notice(who, who->wishes, who->seen_wishes);
    notice(who, who->copies, who->seen_copies);
    work(who);
    at_time(who, due, world_.draw(0.001, is_healed_ ? 10 : 2), [this, who, &follower] { follow(who, follower); });
  }
  void notice(const Who& who, const SimulatedFollower& follower, SimulatedFollower::Shown& seen) {
    const auto latest = follower.latest();
    compare(seen->objects, latest->objects, [&](const auto* before, const auto* after) {
      who->queue.add((after == nullptr ? before : after)->key.name, clock(who));
    });
    seen = latest;
  }

  void elect(const Who& who) {
    const Elector::Action action = who->elector.next(clock(who), std::to_string(world_.now()));
    if (const auto* wait = std::get_if<Elector::Wait>(&action)) {
      at_time(who, wait->until, 1e-6, [this, who] { elect(who); });
    } else if (const auto* read = std::get_if<Elector::Read>(&action)) {
      ask(who, read->deadline, [this] { return lease_.read(); }, &Elector::saw);
    } else if (const auto* claim = std::get_if<Elector::Write>(&action)) {
      ask(who, claim->deadline, [this, lease = claim->lease] { return lease_.write(lease); }, &Elector::wrote);
    } else {
      crash(who);
    }
  }
  template <typename Serve, typename Told>
  void ask(const Who& who, base::TimePoint deadline, Serve serve, Told told) {
    const double patience = std::max(0.0, who->real(deadline) - world_.now());
    world_.call(patience, serve, [this, who, told](const auto& answer) {
      on(who, 0, [this, who, told, answer] {
        if (answer && *answer) {
          (who->elector.*told)(**answer, clock(who));
        } else {
          who->elector.failed(clock(who));
        }
        elect(who);
        work(who);
      });
    });
  }
  // Told to stop: it ends what it has begun.
  void release(const Who& who) {
    if (const auto freed = who->elector.release(std::to_string(world_.now()))) {
      world_.call(2, [this, lease = *freed] { return lease_.write(lease); }, [](const auto&) {});
    }
    on(who, world_.draw(0, 5), [this, who] { crash(who); });
  }

  // Whatever lets it go on calls this again; only the end of a delay does not.
  void work(const Who& who) {
    const bool is_complete = who->seen_wishes->complete && who->seen_copies->complete;
    while (!who->is_dead && is_complete && who->passes < kWorkers && who->elector.leading(clock(who))) {
      const auto key = who->queue.take(clock(who));
      if (!key) return wait(who);
      ++who->passes;
      pass(who, *key);
    }
  }
  void wait(const Who& who) {
    const auto due = who->queue.next_due();
    if (!due || *due >= who->wakes) return;
    who->wakes = *due;
    at_time(who, *due, 1e-6, [this, who, due = *due] {
      if (who->wakes == due) who->wakes = base::TimePoint::max();
      work(who);
    });
  }

  void pass(const Who& who, const WorkKey& key) {
    const Key name{.ns = "", .name = key};
    if (who->seen_copies->version < who->written[key]) return on(who, 0, [this, who, key] { wait_for_echo(who, key); });
    const auto* const wish = who->seen_wishes->find(name);
    const auto* const copy = who->seen_copies->find(name);
    if (wish == nullptr ? copy == nullptr : copy != nullptr && copy->value == wish->value) {
      return on(who, world_.draw(0, 1), [this, who, key] { end(who, key, true); });
    }
    const Write write{.name = key, .value = wish == nullptr ? std::nullopt : std::optional(wish->value), .over = copy};
    // The view is held for as long as the pass lasts, which may be stopped before it writes.
    on(who, world_.draw(0, 0.1), [this, who, key, write, held = who->seen_copies] {
      ++sent_;
      for (const Who& other : replicas_) two_led_ += other != who && other->elector.leading(clock(other)) ? 1 : 0;
      world_.call(
          kPatience, [this, write, held] { return store(write); },
          [this, who, key](const std::optional<std::uint64_t>& version) {
            on(who, 0, [this, who, key, version] {
              if (!version || *version == 0) return end(who, key, false);
              who->written[key] = *version;
              wait_for_echo(who, key);
            });
          });
    });
  }
  // Our write may be undone before we have seen it: between two views that are alike, nobody would tell.
  void wait_for_echo(const Who& who, const WorkKey& key) {
    who->queue.add_at(key, clock(who) + kEcho);
    end(who, key, true);
  }
  void end(const Who& who, const WorkKey& key, bool is_done) {
    --who->passes;
    is_done ? who->queue.forget(key) : who->queue.retry(key, clock(who));
    who->queue.done(key, clock(who));
    work(who);
  }

  // What the server does with a write: only over what its sender has seen. Its version; 0 where it is refused.
  std::uint64_t store(const Write& write) {
    const auto found = copies_.objects.find(write.name);
    const bool is_there = found != copies_.objects.end();
    const bool is_as_seen = write.over == nullptr ? !is_there
                                                  : is_there && found->second.uid == write.over->uid &&
                                                        found->second.version == write.over->version;
    if (!is_as_seen) {
      ++refused_;
      return 0;
    }
    ++written_;
    check(write);
    write.value ? copies_.put(write.name, *write.value) : copies_.remove(write.name);
    return copies_.version;
  }
  void check(const Write& write) {
    EXPECT_TRUE(!write.value || wished_.contains({write.name, *write.value})) << write.name << " was never so";
    // Wished for at all times, and touched by nobody else: whoever changes it once it is there took what he did not
    // know for what is not.
    const bool is_steady = !write.name.starts_with("o");
    EXPECT_FALSE(is_steady && write.over != nullptr) << write.name << " was changed";
  }

  SimulatedWorld world_;
  SimulatedServer wishes_;
  SimulatedServer copies_;
  SimulatedLease lease_;
  std::set<std::pair<std::string, std::string>> wished_;  // At any time.
  std::vector<Who> replicas_;
  bool is_healed_ = false;
  unsigned started_ = 0;
  int sent_ = 0;
  int written_ = 0;
  int refused_ = 0;
  int crashes_ = 0;
  int two_led_ = 0;
};

TEST(Replicas, whatever_goes_wrong_each_wish_has_its_copy_and_then_nothing_is_written) {
  int written = 0;
  int refused = 0;
  int crashes = 0;
  int two_led = 0;
  const Seeds seeds(100);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Replicas replicas(seed);
    replicas.run();
    if (testing::Test::HasFailure()) return;
    written += replicas.written();
    refused += replicas.refused();
    crashes += replicas.crashes();
    two_led += replicas.two_led();
  }
  if (seeds.last - seeds.first < 99) return;
  EXPECT_GT(written, 2'000);  // The schedules were worth running.
  EXPECT_GT(refused, 100);
  EXPECT_GT(crashes, 500);
  EXPECT_GT(two_led, 10);
}

}  // namespace
}  // namespace kube
