#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/list_watch.h"
#include "kube/list_watch_test.h"
#include "kube/message_test.h"
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
  auto operator<=>(const Stored&) const = default;
};
using StoredObjects = std::map<std::string, Stored>;

constexpr json::Schema kSimulatedMeta{json::field::text(1, "name"), json::field::text(5, "uid"),
                                      json::field::text(6, "resourceVersion")};
constexpr json::Schema kSimulated{json::field::message(1, "metadata", kSimulatedMeta), json::field::text(2, "value")};

json::WrittenMessage to_message(const std::string& name, const Stored& object) {
  json::WrittenMessage meta;
  meta.text(1, name).text(5, object.uid).text(6, std::to_string(object.version));
  return json::WrittenMessage().message(1, meta).text(2, object.value);
}

std::string to_json(const std::string& name, const Stored& object) {
  return fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}},"value":"{}"}})", name,
                     object.uid, object.version, object.value);
}

// What a server does, as reliability tests on the real one have shown it.
class SimulatedServer {
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
    ever.insert(*entry);
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
  StoredObjects objects;
  std::set<std::pair<std::string, Stored>> ever;  // Each object as it once was.
  std::vector<Change> history;
  std::vector<std::pair<std::uint64_t, StoredObjects>> past;
  std::map<std::string, std::pair<std::uint64_t, StoredObjects>> pages;

 private:
  int uids_ = 0;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed),
        steps_({.selection = {}, .page_size = 3, .schema = chance(50) ? &kSimulated : nullptr}, store_, seed),
        faults_(true) {
    server_.streams = chance(70);
    for (int i = 0; i < 8; ++i) server_.put(fmt::format("o{}", i), "first");
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (chance(40)) change_server();
      if (chance(3)) hear_from_outside();
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
  int told_falls() const { return told_falls_; }
  int messages() const { return messages_; }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  StoredObjects mine() const {
    StoredObjects out;
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

  // Somebody wants what is known confirmed, or another kind was the first to see the storage fall back. Whatever stream
  // there is is given up for it.
  void hear_from_outside() {
    const bool has_fallen = server_.resets != resets_;
    if (has_fallen && chance(50)) {
      steps_.storage_fell_back();
      ++told_falls_;
    } else {
      steps_.list_again();
    }
    open_ = mute_ = false;
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
    std::pair<std::uint64_t, StoredObjects> rest{server_.version, server_.objects};
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
    json::WrittenMessage written;
    for (unsigned i = 0; i < request.limit && !rest.second.empty(); ++i) {
      const auto first = rest.second.extract(rest.second.begin());
      items += (items.empty() ? "" : ",") + to_json(first.key(), first.mapped());
      written.message(2, to_message(first.key(), first.mapped()));
    }
    std::string token;
    if (!rest.second.empty()) {
      token = fmt::format("t{}", ++tokens_);
      server_.pages[token] = rest;
    }
    if (answers_in_message(request.as_message)) {
      json::WrittenMessage list;
      list.message(1, json::WrittenMessage().text(2, std::to_string(rest.first)).text(3, token)).raw(written.bytes());
      return steps_.listed(enveloped("ThingList", list), now_);
    }
    steps_.listed(fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", rest.first,
                              token, items),
                  now_);
  }

  // Not each server of a cluster may have them.
  bool answers_in_message(bool is_asked) {
    const bool out = is_asked && chance(70);
    messages_ += out ? 1 : 0;
    return out;
  }

  void open(const WatchRequest& request) {
    if (fails()) return;
    if (request.initial && !server_.streams) return steps_.failed(status(422, "Invalid"), now_);
    if (request.initial && is_too_large(request.from)) return;
    open_ = true;
    pending_.clear();
    cursor_ = server_.history.size();
    as_messages_ = answers_in_message(request.as_message);
    steps_.opened(now_);
    if (request.initial) {
      for (const auto& [name, object] : server_.objects) say("ADDED", name, object);
      say_bookmark(true);
    } else if (request.from < server_.oldest) {
      say("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})",
          json::WrittenMessage().text(4, "Expired").number(6, 410));
    } else if (request.from > server_.version) {
      mute_ = true;  // Served in silence: the version may yet come.
    } else {
      const auto later = std::ranges::find_if(server_.history,
                                              [&](const auto& change) { return change.object.version > request.from; });
      cursor_ = static_cast<std::size_t>(later - server_.history.begin());
    }
  }

  void say(std::string_view type, std::string_view text, const json::WrittenMessage& message) {
    pending_ += as_messages_ ? event_message(type, "Thing", message)
                             : fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text);
  }
  void say(std::string_view type, const std::string& name, const Stored& object) {
    say(type, to_json(name, object), to_message(name, object));
  }
  void say_bookmark(bool ends_initial) {
    const std::string version = std::to_string(server_.version);
    json::WrittenMessage meta;
    meta.text(6, version);
    if (ends_initial) meta.entry(12, "k8s.io/initial-events-end", "true");
    say("BOOKMARK",
        fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version,
                    ends_initial ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""),
        json::WrittenMessage().message(1, meta));
  }

  void stream() {
    if (faults_ && chance(5)) return cut();
    if ((faults_ && chance(5)) || mute_) return end();
    for (; cursor_ < server_.history.size(); ++cursor_) {
      const auto& change = server_.history[cursor_];
      say(change.type, change.name, change.object);
      if (faults_ && chance(10)) say(change.type, change.name, change.object);  // Told twice.
    }
    if (chance(10)) say_bookmark(false);
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
    if (std::exchange(seen_view_, view) == view) return;
    for (const auto& object : view->objects) {
      auto& last = seen_[object->key.name];
      ASSERT_GE(object->version, last) << object->key.name << " went back in time";
      last = object->version;
      const Stored shown{.uid = object->uid, .version = object->version, .value = object->value};
      ASSERT_TRUE(server_.ever.contains({object->key.name, shown})) << object->key.name << " was never so";
    }
  }

  std::mt19937_64 random_;
  runtime::Signal changed_;
  Store<std::string> store_{decode, changed_};
  ListWatch steps_;
  SimulatedServer server_;
  base::TimePoint now_{1h};
  bool faults_;

  bool open_ = false;
  bool mute_ = false;
  bool lied_ = false;
  bool as_messages_ = false;  // What the stream is in.
  std::string pending_;
  std::size_t cursor_ = 0;
  int tokens_ = 0;
  int told_falls_ = 0;
  int messages_ = 0;

  int resets_ = 0;
  bool was_complete_ = false;
  std::shared_ptr<const View<std::string>> seen_view_;
  std::uint64_t seen_version_ = 0;
  std::map<std::string, std::uint64_t> seen_;
};

TEST(ListWatch, whatever_goes_wrong_the_store_ends_up_right_and_never_goes_back) {
  int told_falls = 0;
  int messages = 0;
  const Seeds seeds(1500);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Simulation simulation(seed);
    simulation.run(150);
    simulation.settle();
    if (testing::Test::HasFailure()) return;
    ASSERT_TRUE(simulation.complete());
    told_falls += simulation.told_falls();
    messages += simulation.messages();
  }
  if (seeds.last - seeds.first < 999) return;
  EXPECT_GT(told_falls, 10);  // The schedules were worth running.
  EXPECT_GT(messages, 5'000);
}

}  // namespace
}  // namespace kube
