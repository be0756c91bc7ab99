#include "kube/list_watch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/seeds_test.h"
#include "kube/store.h"

// The real list/watch logic and store against a model of the API server, on one thread with a virtual clock. One
// integer decides everything, so a failing run is repeated by its seed.
namespace kube {
namespace {

using base::Fault;
using namespace std::chrono_literals;

struct Stored {
  std::string uid;
  std::uint64_t version = 0;
  std::string value;
  bool operator==(const Stored&) const = default;
};
using Objects = std::map<std::string, Stored>;

std::string to_json(const std::string& name, const Stored& object) {
  return fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}},"value":"{}"}})", name,
                     object.uid, object.version, object.value);
}

base::Result<std::string> decode(const json::Value& object) {
  return std::string(TRY(object["value"].string()));
}

// What a server does, as reliability tests on the real one have shown it.
class Server {
 public:
  struct Change {
    std::string type;
    std::string name;
    Stored object;
  };

  void put(const std::string& name, const std::string& value) {
    auto [entry, fresh] = objects.try_emplace(name);
    if (fresh) entry->second.uid = fmt::format("uid-{}", ++uids_);
    entry->second.version = ++version;
    entry->second.value = value;
    history.push_back({fresh ? "ADDED" : "MODIFIED", name, entry->second});
    past.push_back({version, objects});
  }

  void remove(const std::string& name) {
    const auto found = objects.find(name);
    if (found == objects.end()) return;
    Stored last = found->second;
    last.version = ++version;
    objects.erase(found);
    history.push_back({"DELETED", name, last});
    past.push_back({version, objects});
  }

  void compact() {
    oldest = version;
    past.erase(past.begin(), past.end() - std::min<std::ptrdiff_t>(1, std::ssize(past)));
    pages.clear();
  }

  // The storage is restored from an old backup: versions fall.
  void restore_backup() {
    if (past.empty()) return;
    version = past.front().first;
    objects = past.front().second;
    std::erase_if(history, [&](const Change& change) { return change.object.version > version; });
    past.resize(1);
    pages.clear();
    ++resets;
  }

  std::uint64_t version = 1;
  std::uint64_t oldest = 0;  // Watches from before this one are gone.
  bool streams = true;
  int resets = 0;
  Objects objects;
  std::vector<Change> history;
  std::vector<std::pair<std::uint64_t, Objects>> past;
  std::map<std::string, std::pair<std::uint64_t, Objects>> pages;

 private:
  int uids_ = 0;
};

Error status(int code, std::string reason = {}, std::vector<ServerStatus::Cause> causes = {}) {
  ServerStatus out;
  out.code = code;
  out.reason = std::move(reason);
  out.causes = std::move(causes);
  return error_of(std::move(out));
}

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed), steps_({.selection = {}, .page_size = 3}, store_, seed), faults_(true) {
    server_.streams = chance(70);
    for (int i = 0; i < 8; ++i) server_.put(fmt::format("o{}", i), "first");
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (chance(40)) change_server();
      advance();
      check();
    }
  }

  // Without faults the store becomes what the server has, and stays so.
  void settle() {
    faults_ = false;
    for (int i = 0; i < 400; ++i) {
      advance();
      check();
      if (open_ && pending_.empty() && cursor_ == server_.history.size() && mine() == server_.objects) return;
    }
    FAIL() << "never settled: " << store_.latest()->objects.size() << " objects of " << server_.objects.size();
  }

  bool complete() const { return store_.latest()->complete; }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  Objects mine() const {
    Objects out;
    for (const auto& object : store_.latest()->objects) {
      out[object->key.name] = {.uid = object->uid, .version = object->version, .value = object->value};
    }
    return out;
  }

  void change_server() {
    // New changes after a restore soon reach the old version numbers again, and then nobody can tell: that is why
    // etcd's restore can skip numbers. Here the server waits until the fall has been noticed.
    if (server_.resets != resets_) return;
    const std::string name = fmt::format("o{}", random_() % 10);
    if (chance(70)) {
      server_.put(name, std::to_string(random_() % 1000));
    } else if (chance(80)) {
      server_.remove(name);
    } else if (chance(50)) {
      server_.compact();
    } else if (chance(20)) {
      server_.restore_backup();
      cut();
    }
  }

  void advance() {
    if (open_) return stream();
    const auto step = steps_.next(now_);
    if (const auto* pause = std::get_if<ListWatch::Pause>(&step)) {
      now_ = pause->until;
    } else if (const auto* list = std::get_if<ListWatch::List>(&step)) {
      answer(list->request);
    } else {
      open(std::get<ListWatch::Watch>(step).request);
    }
  }

  bool fails() {
    if (!faults_ || !chance(25)) return false;
    static const std::vector<Error> kFaults = {base::Error(Fault::unavailable, "connection lost"),
                                               base::Error(Fault::timeout, "late"),
                                               status(429),
                                               status(503),
                                               status(500),
                                               status(403),
                                               status(404),
                                               status(410, "Expired")};
    steps_.failed(kFaults[random_() % kFaults.size()], now_);
    return true;
  }

  bool is_too_large(std::uint64_t asked) {
    if (asked <= server_.version) return false;
    steps_.failed(status(504, "Timeout", {{.reason = "ResourceVersionTooLarge", .message = "", .field = ""}}), now_);
    return true;
  }

  void answer(const ListRequest& request) {
    if (fails() || (request.token.empty() && is_too_large(request.not_older_than))) return;
    std::pair<std::uint64_t, Objects> rest{server_.version, server_.objects};
    // A server that lags, or a proxy that replays: an older list, though we asked for none such. Not twice in a row:
    // that is how a restored storage looks.
    if (request.token.empty()) {
      lied_ = faults_ && !lied_ && chance(10) && !server_.past.empty();
      if (lied_) rest = server_.past.front();
    }
    if (!request.token.empty()) {
      const auto found = server_.pages.find(request.token);
      if (found == server_.pages.end()) return steps_.failed(status(410, "Expired"), now_);
      rest = found->second;
    }
    std::string items;
    for (unsigned i = 0; i < request.limit && !rest.second.empty(); ++i) {
      const auto first = rest.second.extract(rest.second.begin());
      items += (items.empty() ? "" : ",") + to_json(first.key(), first.mapped());
    }
    std::string token;
    if (!rest.second.empty()) {
      token = fmt::format("t{}", ++tokens_);
      server_.pages[token] = rest;
    }
    steps_.listed(fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", rest.first,
                              token, items),
                  now_);
  }

  void open(const WatchRequest& request) {
    if (fails()) return;
    if (request.initial && !server_.streams) return steps_.failed(status(422, "Invalid"), now_);
    if (request.initial && is_too_large(request.from)) return;
    open_ = true;
    pending_.clear();
    cursor_ = server_.history.size();
    steps_.opened(now_);
    if (request.initial) {
      for (const auto& [name, object] : server_.objects) say("ADDED", to_json(name, object));
      say("BOOKMARK",
          fmt::format(
              R"({{"metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}})",
              server_.version));
    } else if (request.from < server_.oldest) {
      say("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})");
    } else if (request.from > server_.version) {
      mute_ = true;  // Served in silence: the version may yet come.
    } else {
      const auto later = std::ranges::find_if(server_.history,
                                              [&](const auto& change) { return change.object.version > request.from; });
      cursor_ = static_cast<std::size_t>(later - server_.history.begin());
    }
  }

  void say(std::string_view type, std::string_view object) {
    pending_ += fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
  }

  void stream() {
    if (faults_ && chance(5)) return cut();
    if ((faults_ && chance(5)) || mute_) return end();
    for (; cursor_ < server_.history.size(); ++cursor_) {
      const auto& change = server_.history[cursor_];
      say(change.type, to_json(change.name, change.object));
      if (faults_ && chance(10)) say(change.type, to_json(change.name, change.object));  // Told twice.
    }
    if (chance(10)) say("BOOKMARK", fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}}}})", server_.version));
    if (pending_.empty()) return;
    const std::size_t size = faults_ ? 1 + random_() % pending_.size() : pending_.size();
    const bool goes_on = steps_.heard(pending_.substr(0, size), now_);
    pending_.erase(0, size);
    now_ += 10ms;
    if (!goes_on) open_ = mute_ = false;
  }

  void cut() {
    if (!open_) return;
    open_ = mute_ = false;
    steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_);
  }

  void end() {
    open_ = false;
    now_ += 6min;
    if (std::exchange(mute_, false) && chance(50)) return steps_.silent(now_);
    steps_.ended(now_);
  }

  void check() {
    const auto view = store_.latest();
    if (server_.resets != resets_) {
      // Only a fallen version tells that a reset has been taken over; until then the old state stands.
      if (view->version < seen_version_) {
        seen_.clear();
        seen_version_ = 0;
        resets_ = server_.resets;
      }
    }
    ASSERT_GE(view->version, seen_version_) << "the view went back in time";
    seen_version_ = view->version;
    ASSERT_TRUE(!was_complete_ || view->complete) << "what was complete stays so";
    ASSERT_TRUE(view->complete || view->objects.empty()) << "a partial list was shown";
    was_complete_ = view->complete;
    for (const auto& object : view->objects) {
      auto& last = seen_[object->key.name];
      ASSERT_GE(object->version, last) << object->key.name << " went back in time";
      last = object->version;
    }
  }

  std::mt19937_64 random_;
  runtime::Signal changed_;
  Store<std::string> store_{decode, changed_};
  ListWatch steps_;
  Server server_;
  base::TimePoint now_{1h};
  bool faults_;

  bool open_ = false;
  bool mute_ = false;
  bool lied_ = false;
  std::string pending_;
  std::size_t cursor_ = 0;
  int tokens_ = 0;

  int resets_ = 0;
  bool was_complete_ = false;
  std::uint64_t seen_version_ = 0;
  std::map<std::string, std::uint64_t> seen_;
};

TEST(ListWatch, whatever_goes_wrong_the_store_ends_up_right_and_never_goes_back) {
  const Seeds seeds(1000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Simulation simulation(seed);
    simulation.run(150);
    simulation.settle();
    if (testing::Test::HasFailure()) return;
    ASSERT_TRUE(simulation.complete());
  }
}

// The steps one by one, for what the simulation does not look at.
class Steps : public testing::Test {
 protected:
  template <typename Kind>
  Kind next() {
    const auto step = steps_.next(now_);
    if (const auto* kind = std::get_if<Kind>(&step)) return *kind;
    ADD_FAILURE() << "another kind of step: " << step.index();
    return {};
  }
  void hear(const std::string& type, const std::string& object) {
    steps_.heard(fmt::format(R"({{"type":"{}","object":{}}})", type, object), now_);
  }
  void load(std::uint64_t version) {
    (void)next<ListWatch::Watch>();
    steps_.opened(now_);
    hear("BOOKMARK", fmt::format(R"({{"metadata":{{"resourceVersion":"{}",
        "annotations":{{"k8s.io/initial-events-end":"true"}}}}}})",
                                 version));
  }
  void end_in_time() { steps_.ended(now_ = steps_.quiet_until() - 5s); }

  runtime::Signal changed_;
  Store<std::string> store_{decode, changed_};
  ListWatch steps_{{}, store_, 1};
  base::TimePoint now_{1h};
};

TEST_F(Steps, the_first_list_is_the_newest_state_and_later_ones_not_older_than_seen) {
  const auto first = next<ListWatch::Watch>().request;
  EXPECT_TRUE(first.initial);
  EXPECT_EQ(first.from, 0U);
  load(7);
  end_in_time();
  EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
  steps_.opened(now_);
  end_in_time();  // In silence: look again.
  const auto second = next<ListWatch::Watch>().request;
  EXPECT_TRUE(second.initial);
  EXPECT_EQ(second.from, 7U);
}

// Initial events come in no order: of a list that was cut, not even the versions are known to be seen.
TEST_F(Steps, a_streamed_list_that_was_cut_counts_for_nothing) {
  (void)next<ListWatch::Watch>();
  steps_.opened(now_);
  hear("ADDED", R"({"metadata":{"name":"late","resourceVersion":"50"}})");
  steps_.ended(now_);
  EXPECT_FALSE(store_.latest()->complete);
  EXPECT_EQ(store_.latest()->version, 0U);
  now_ += 1min;
  EXPECT_EQ(next<ListWatch::Watch>().request.from, 0U);
  load(7);
  EXPECT_EQ(store_.latest()->version, 7U) << "no list that goes back in time";
  EXPECT_TRUE(store_.latest()->objects.empty());
}

TEST_F(Steps, asked_to_look_again_it_takes_the_newest_list_and_counts_it) {
  load(7);
  EXPECT_EQ(store_.latest()->lists, 1U);
  steps_.list_again();  // In the midst of a watch.
  const auto again = next<ListWatch::Watch>().request;
  EXPECT_TRUE(again.initial);
  EXPECT_EQ(again.from, 0U);
  steps_.opened(now_);
  steps_.list_again();  // In the midst of that list: it counts for nothing.
  EXPECT_EQ(store_.latest()->lists, 1U);
  load(7);
  EXPECT_EQ(store_.latest()->lists, 2U);
  EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
}

TEST_F(Steps, a_watch_lasts_five_to_ten_minutes_and_is_given_up_a_little_later) {
  load(7);
  end_in_time();
  for (int i = 0; i < 100; ++i) {
    const auto timeout = next<ListWatch::Watch>().request.timeout;
    EXPECT_GE(timeout, 5min);
    EXPECT_LE(timeout, 10min);
    steps_.opened(now_);
    hear("BOOKMARK", R"({"metadata":{"resourceVersion":"8"}})");
    EXPECT_EQ(steps_.quiet_until(), now_ + timeout + 5s);
    end_in_time();
  }
}

TEST_F(Steps, a_watch_that_was_cut_goes_on_where_the_server_still_reaches_its_version) {
  load(7);
  steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_);
  now_ += 1s;
  const auto asked = next<ListWatch::List>().request;
  EXPECT_EQ(asked.limit, 1U);
  EXPECT_EQ(asked.not_older_than, 7U);
  steps_.listed(R"({"metadata":{"resourceVersion":"9","continue":"more"},"items":[{}]})", now_);
  const auto watch = next<ListWatch::Watch>().request;
  EXPECT_FALSE(watch.initial);
  EXPECT_EQ(watch.from, 7U);
  EXPECT_EQ(store_.latest()->lists, 1U);
}

// A restored storage: resumed from our version, the watch would bring nothing until the server has come that far.
TEST_F(Steps, A8_a_version_that_has_fallen_is_noticed_before_the_watch_goes_on) {
  load(7);
  steps_.ended(now_);  // Too early: the server was stopped.
  (void)next<ListWatch::List>();
  steps_.failed(status(504, "Timeout", {{.reason = "ResourceVersionTooLarge", .message = "", .field = ""}}), now_);
  load(3);
  EXPECT_EQ(store_.latest()->version, 7U) << "one consistent read is not enough";
  now_ += 1s;
  load(3);
  EXPECT_EQ(store_.latest()->version, 3U);
  EXPECT_EQ(store_.latest()->lists, 2U);
}

TEST_F(Steps, A8_so_it_is_when_the_server_shows_what_is_older_than_asked_for) {
  load(7);
  steps_.ended(now_);
  (void)next<ListWatch::List>();
  steps_.listed(R"({"metadata":{"resourceVersion":"3"},"items":[]})", now_);
  const auto list = next<ListWatch::Watch>().request;
  EXPECT_TRUE(list.initial);
  EXPECT_EQ(list.from, 0U) << "the newest there is";
}

TEST_F(Steps, an_expired_version_is_answered_by_a_list_at_once_but_only_once) {
  load(7);
  EXPECT_FALSE(steps_.heard(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})", now_));
  EXPECT_EQ(next<ListWatch::Watch>().request.from, 0U);
  steps_.failed(status(410), now_);
  (void)next<ListWatch::Pause>();
}

TEST_F(Steps, waits_grow_to_thirty_seconds_and_start_anew_after_a_good_while) {
  auto longest = base::Duration::zero();
  for (int i = 0; i < 40; ++i) {
    steps_.failed(status(503), now_);
    const auto wait = std::holds_alternative<ListWatch::Pause>(steps_.next(now_))
                          ? next<ListWatch::Pause>().until - now_
                          : base::Duration::zero();
    EXPECT_LE(wait, i == 0 ? base::Duration(800ms) : 30s);
    longest = std::max<base::Duration>(longest, wait);
    now_ += wait;
  }
  EXPECT_GT(longest, 15s);
  now_ += 3min;
  steps_.failed(status(503), now_);
  EXPECT_FALSE(std::holds_alternative<ListWatch::Pause>(steps_.next(now_ + 800ms)));
}

TEST_F(Steps, the_server_says_how_long_to_wait) {
  Error busy = status(429);
  busy.status->retry_after = 9s;
  steps_.failed(busy, now_);
  EXPECT_GE(next<ListWatch::Pause>().until, now_ + 9s);
}

TEST_F(Steps, a_refused_stream_means_pages_at_once) {
  (void)next<ListWatch::Watch>();
  steps_.failed(status(422, "Invalid"), now_);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 500U);
}

TEST_F(Steps, a_streamed_list_that_hangs_means_pages_this_time) {
  (void)next<ListWatch::Watch>();
  steps_.opened(now_);
  EXPECT_EQ(steps_.quiet_until(), now_ + 30s);
  steps_.silent(now_ += 30s);
  now_ += 1s;
  (void)next<ListWatch::List>();
  steps_.listed(R"({"metadata":{"resourceVersion":"5"},"items":[]})", now_);
  EXPECT_TRUE(store_.latest()->complete);
  EXPECT_EQ(next<ListWatch::Watch>().request.from, 5U);
}

TEST_F(Steps, garbage_ends_the_stream_and_is_told) {
  load(7);
  EXPECT_FALSE(steps_.heard("garbage", now_));
  ASSERT_TRUE(store_.latest()->trouble);
  EXPECT_TRUE(store_.latest()->complete);
  EXPECT_TRUE(changed_.wait({}, base::SteadyClock().now()));
}

}  // namespace
}  // namespace kube
