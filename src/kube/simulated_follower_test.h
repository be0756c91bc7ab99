#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/list_watch.h"
#include "kube/list_watch_test.h"
#include "kube/message_test.h"
#include "kube/simulated_server_test.h"
#include "kube/store.h"

namespace kube {

inline constexpr json::Schema kSimulatedMeta{json::field::text(1, "name"), json::field::text(5, "uid"),
                                             json::field::text(6, "resourceVersion")};
inline constexpr json::Schema kSimulated{json::field::message(1, "metadata", kSimulatedMeta),
                                         json::field::text(2, "value")};

// An object of this value is written as nobody can read it: in a message not even by its schema.
inline constexpr std::string_view kSpoilt = "spoilt";

inline json::WrittenMessage to_message(const std::string& name, const Stored& object) {
  json::WrittenMessage meta;
  meta.text(1, name).text(5, object.uid).text(6, std::to_string(object.version));
  json::WrittenMessage out = json::WrittenMessage().message(1, meta);
  return object.value == kSpoilt ? out.number(2, 5) : out.text(2, object.value);
}

inline std::string to_json(const std::string& name, const Stored& object) {
  return fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}},"value":{}}})", name, object.uid,
                     object.version, object.value == kSpoilt ? "5" : fmt::format("{:?}", object.value));
}

// The real list/watch logic and store, what lies between them and the server, and what every view must be like.
class SimulatedFollower {
 public:
  using Shown = std::shared_ptr<const View<std::string>>;

  // A watch that comes to its end in good order has lasted for `watch_lasts`.
  SimulatedFollower(SimulatedServer& server, std::mt19937_64& random, base::Duration watch_lasts)
      : random_(random),
        steps_{{.selection = {}, .page_size = 3, .schema = chance(50) ? &kSimulated : nullptr}, store_, random_()},
        server_(server),
        watch_lasts_(watch_lasts) {}

  // One exchange with the server, if it is time for one; when the next is due.
  base::TimePoint step(base::TimePoint now) {
    now_ = std::max(now_, now);
    advance();
    check();
    return now_;
  }

  // From here on nothing fails.
  void heal() { faults_ = false; }

  // Somebody wants what is known confirmed, or another kind was the first to see the storage fall back. Whatever stream
  // there is is given up for it.
  void hear_from_outside() {
    if (!has_noticed_reset() && chance(50)) {
      steps_.storage_fell_back();
      ++told_falls_;
    } else {
      steps_.list_again();
    }
    open_ = mute_ = false;
  }

  void cut() {
    if (!open_) return;
    open_ = mute_ = false;
    steps_.failed(base::Error(base::Fault::unavailable, "connection lost"), now_);
  }

  Shown latest() const { return store_.latest(); }
  bool has_all() const { return open_ && pending_.empty() && cursor_ == server_.history.size() && shows_all(); }
  bool has_noticed_reset() const { return server_.resets == resets_; }
  int told_falls() const { return told_falls_; }
  int messages() const { return messages_; }
  int whole_lists() const { return whole_lists_; }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  bool shows_all() const {
    StoredObjects out;
    const auto view = store_.latest();
    for (const auto& object : view->objects) {
      out[object->key.name] = {.uid = object->uid, .version = object->version, .value = object->value};
    }
    StoredObjects wanted = server_.objects;
    for (const auto& [key, unreadable] : view->unknown) {
      const auto spoilt = wanted.find(key.name);
      if (spoilt == wanted.end() || spoilt->second.value != kSpoilt) return false;
      if (spoilt->second.uid != unreadable.uid) return false;
      wanted.erase(spoilt);
      out.erase(key.name);  // As it last could be read, if it ever could.
    }
    return out == wanted;
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
    static const std::vector<Error> kFaults = {base::Error(base::Fault::unavailable, "connection lost"),
                                               base::Error(base::Fault::timeout, "late"),
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
    whole_lists_ += request.limit == 0 ? 1 : 0;
    const std::size_t limit = request.limit == 0 ? rest.second.size() : request.limit;
    for (std::size_t i = 0; i < limit && !rest.second.empty(); ++i) {
      const auto first = rest.second.extract(rest.second.begin());
      items += (items.empty() ? "" : ",") + to_json(first.key(), first.mapped());
      written.message(2, to_message(first.key(), first.mapped()));
    }
    const std::string token = rest.second.empty() ? "" : server_.keep_page(rest);
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
    now_ += std::chrono::milliseconds(10);
    if (!goes_on) open_ = mute_ = false;
  }

  void end() {
    open_ = false;
    now_ += watch_lasts_;
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
      if (object->version == 0) {  // Of a time that is lost.
        ASSERT_TRUE(view->unknown.contains(object->key)) << object->key.name << " has no version";
        continue;
      }
      auto& last = seen_[object->key.name];
      ASSERT_GE(object->version, last) << object->key.name << " went back in time";
      last = object->version;
      const Stored shown{.uid = object->uid, .version = object->version, .value = object->value};
      ASSERT_TRUE(server_.ever.contains({object->key.name, shown})) << object->key.name << " was never so";
    }
  }

  std::mt19937_64& random_;
  runtime::Signal changed_;
  Store<std::string> store_{decode, changed_};
  ListWatch steps_;
  SimulatedServer& server_;
  const base::Duration watch_lasts_;
  base::TimePoint now_{};
  bool faults_ = true;

  bool open_ = false;
  bool mute_ = false;
  bool lied_ = false;
  bool as_messages_ = false;  // What the stream is in.
  std::string pending_;
  std::size_t cursor_ = 0;
  int told_falls_ = 0;
  int messages_ = 0;
  int whole_lists_ = 0;

  int resets_ = 0;
  bool was_complete_ = false;
  std::shared_ptr<const View<std::string>> seen_view_;
  std::uint64_t seen_version_ = 0;
  std::map<std::string, std::uint64_t> seen_;
};

}  // namespace kube
