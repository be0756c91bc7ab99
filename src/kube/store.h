#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "json/reader.h"
#include "kube/objects.h"
#include "kube/resource.h"
#include "kube/sink.h"
#include "kube/watch.h"
#include "runtime/signal.h"

namespace kube {

// An object that is there and cannot be read or decoded.
struct Unreadable {
  std::string uid;
  std::string why;
};

// What is known of a kind at one instant. Never changes: hold it as long as you like.
template <typename T>
struct View {
  using Entry = typename Objects<T>::Entry;

  bool complete = false;       // A whole list has been seen. Before that, absence says nothing.
  std::uint64_t version = 0;   // Everything up to here is in it; bookmarks count.
  std::uint64_t lists = 0;     // How many whole lists were taken so far.
  std::uint64_t failures = 0;  // How often following it has failed so far.
  Objects<T> objects;
  // Objects that are there but cannot be decoded now, and why. If an earlier version of the same object could be, that
  // is still among `objects`: unknown is not deleted.
  std::map<Key, Unreadable> unknown;
  std::optional<base::Error> trouble;  // Why nothing new comes at present.

  const Object<T>* find(const Key& key) const { return objects.find(key).get(); }
};

// The objects of one kind: one thread writes through Sink, any thread reads views. A view is made when somebody asks
// and something has changed since, and shares with its forerunner what is the same. `changed` is raised after each
// batch that changed objects; not for bookmarks, nor for changes that `same` says mean nothing.
template <typename T>
class Store final : public Sink {
 public:
  using Decoder = std::function<base::Result<T>(const json::Value& object)>;

  // Whether a change from one value to the next means nothing to the consumer.
  using Same = std::function<bool(const T& before, const T& after)>;

  Store(Decoder decode, runtime::Signal& changed, Same same = {})
      : decode_(std::move(decode)), same_(std::move(same)), changed_(changed) {}

  std::shared_ptr<const View<T>> latest() const {
    const std::lock_guard lock(mutex_);
    if (!published_) {
      published_ = std::make_shared<const View<T>>(View<T>{.complete = live_.complete,
                                                           .version = live_.version,
                                                           .lists = live_.lists,
                                                           .failures = live_.failures,
                                                           .objects = live_.objects.share(),
                                                           .unknown = live_.unknown,
                                                           .trouble = live_.trouble});
    }
    return published_;
  }

  // When the server last told anything, bookmarks included; never: the beginning of time.
  base::TimePoint heard_at() const {
    const std::lock_guard lock(mutex_);
    return heard_at_;
  }

  void begin_list(bool versions_hold) override {
    listing_ = true;
    versions_hold_ = versions_hold;
    staged_ = {};
  }

  void abort_list() override {
    listing_ = false;
    staged_ = {};
  }

  void end_list(std::uint64_t version) override {
    staged_.complete = true;
    staged_.version = version;
    listing_ = false;
    heard_ = true;
    const std::lock_guard lock(mutex_);
    staged_.lists = live_.lists + 1;
    staged_.failures = live_.failures;
    std::swap(live_, staged_);
    published_.reset();
    dirty_ = true;
    staged_ = {};
  }

  void put(const Identity& identity, const base::Result<json::Value>& object) override {
    const auto known = live_.objects.find(identity.key);
    const bool is_same_object = known && known->uid == identity.uid;
    if (!listing_ && known && known->version >= identity.version) return;  // An echo of the past.
    const bool is_unchanged = versions_hold_ && is_same_object && known->version == identity.version;
    if (listing_ && is_unchanged) return staged_.objects.insert(known);
    auto decoded = object ? decode_(*object) : base::Result<T>(std::unexpected(object.error()));
    const std::lock_guard lock(mutex_);
    View<T>& view = listing_ ? staged_ : live_;
    bool is_news = true;
    if (decoded) {
      const bool was_unknown = view.unknown.erase(identity.key) > 0;
      is_news = was_unknown || !is_same_object || !same_ || !same_(known->value, *decoded);
      view.objects.insert(std::make_shared<const Object<T>>(
          Object<T>{identity.key, identity.uid, identity.version, *std::move(decoded)}));
    } else {
      view.unknown[identity.key] = {.uid = identity.uid, .why = decoded.error().message()};
      if (is_same_object) {
        view.objects.insert(known->version < identity.version ? known : without_version(*known));
      } else {
        view.objects.erase(identity.key);  // That was another object of the same name.
      }
    }
    touched(is_news);
  }

  void remove(const Identity& identity) override {
    const auto known = live_.objects.find(identity.key);
    if (!listing_ && known && known->version > identity.version) return;  // An echo of the past.
    const std::lock_guard lock(mutex_);
    View<T>& view = listing_ ? staged_ : live_;
    view.unknown.erase(identity.key);
    view.objects.erase(identity.key);
    touched();
  }

  void reached(std::uint64_t version) override {
    const std::lock_guard lock(mutex_);
    live_.version = version;
    heard_ = true;
    published_.reset();
  }

  void trouble(std::optional<base::Error> error) override {
    const std::lock_guard lock(mutex_);
    const auto fault = [](const auto& one) { return one ? std::optional(one->fault()) : std::nullopt; };
    if (fault(live_.trouble) != fault(error)) dirty_ = true;
    if (error) ++live_.failures;
    live_.trouble = std::move(error);
    published_.reset();
  }

  void settle() override {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(heard_, false)) heard_at_ = base::SteadyClock().now();
    }
    if (std::exchange(dirty_, false)) changed_.raise();
  }

 private:
  // Known in no older version than the one that cannot be read: so the storage may have fallen back, and that number
  // have been given to something else. What comes next must be taken for news.
  static typename View<T>::Entry without_version(Object<T> object) {
    object.version = 0;
    return std::make_shared<const Object<T>>(std::move(object));
  }

  void touched(bool is_news = true) {
    if (listing_) return;
    heard_ = true;
    if (is_news) dirty_ = true;
    published_.reset();
  }

  const Decoder decode_;
  const Same same_;
  runtime::Signal& changed_;

  // The writer's own.
  bool listing_ = false;
  bool versions_hold_ = false;  // While listing.
  View<T> staged_;
  bool dirty_ = false;
  bool heard_ = false;  // In this batch.

  mutable std::mutex mutex_;  // Readers see `live_` under it; the writer changes it under it.
  mutable View<T> live_;      // Notes what it shares.
  mutable std::shared_ptr<const View<T>> published_;
  base::TimePoint heard_at_{};
};

}  // namespace kube
