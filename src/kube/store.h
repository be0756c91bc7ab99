#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/reader.h"
#include "kube/resource.h"
#include "kube/sink.h"
#include "kube/watch.h"
#include "runtime/signal.h"

namespace kube {

// One object as the consumer decoded it: only what its decoder keeps takes memory.
template <typename T>
struct Object {
  Key key;
  std::string uid;
  std::uint64_t version = 0;
  T value;
};

// What is known of a kind at one instant. Never changes: hold it as long as you like.
template <typename T>
struct View {
  using Entry = std::shared_ptr<const Object<T>>;

  bool complete = false;       // A whole list has been seen. Before that, absence says nothing.
  std::uint64_t version = 0;   // Everything up to here is in it; bookmarks count.
  std::uint64_t lists = 0;     // How many whole lists were taken so far.
  std::uint64_t failures = 0;  // How often following it has failed so far.
  std::vector<Entry> objects;  // By key.
  // Objects that are there but cannot be decoded now, and why. If an earlier version of the same object could be, that
  // is still among `objects`: unknown is not deleted.
  std::map<Key, std::string> unknown;
  std::optional<base::Error> trouble;  // Why nothing new comes at present.

  const Object<T>* find(const Key& key) const {
    const auto found = position(key);
    return found != objects.end() && (*found)->key == key ? found->get() : nullptr;
  }
  auto position(const Key& key) const {
    return std::ranges::lower_bound(objects, key, {}, [](const Entry& entry) -> const Key& { return entry->key; });
  }
};

// The objects of one kind: one thread writes through Sink, any thread reads views. A view is made when somebody asks
// and something has changed since, so a burst of changes costs one copy of pointers. `changed` is raised after each
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
    if (!published_) published_ = std::make_shared<const View<T>>(live_);
    return published_;
  }

  void begin_list() override {
    listing_ = true;
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
    const std::lock_guard lock(mutex_);
    staged_.lists = live_.lists + 1;
    staged_.failures = live_.failures;
    std::swap(live_, staged_);
    published_.reset();
    dirty_ = true;
    staged_ = {};
  }

  void put(const Identity& identity, const json::Value& object) override {
    const auto known = find(live_, identity.key);
    const bool is_same_object = known && known->uid == identity.uid;
    if (!listing_ && known && known->version >= identity.version) return;  // An echo of the past.
    if (listing_ && is_same_object && known->version == identity.version) return insert(staged_, known);
    auto decoded = decode_(object);
    const std::lock_guard lock(mutex_);
    View<T>& view = listing_ ? staged_ : live_;
    bool is_news = true;
    if (decoded) {
      const bool was_unknown = view.unknown.erase(identity.key) > 0;
      is_news = was_unknown || !is_same_object || !same_ || !same_(known->value, *decoded);
      insert(view, std::make_shared<const Object<T>>(
                       Object<T>{identity.key, identity.uid, identity.version, *std::move(decoded)}));
    } else {
      view.unknown[identity.key] = decoded.error().message();
      if (is_same_object) {
        insert(view, known);
      } else {
        erase(view, identity.key);  // That was another object of the same name.
      }
    }
    touched(is_news);
  }

  void remove(const Identity& identity) override {
    const auto known = find(live_, identity.key);
    if (!listing_ && known && known->version > identity.version) return;  // An echo of the past.
    const std::lock_guard lock(mutex_);
    View<T>& view = listing_ ? staged_ : live_;
    view.unknown.erase(identity.key);
    erase(view, identity.key);
    touched();
  }

  void reached(std::uint64_t version) override {
    const std::lock_guard lock(mutex_);
    live_.version = version;
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
    if (std::exchange(dirty_, false)) changed_.raise();
  }

 private:
  using Entry = typename View<T>::Entry;

  static Entry find(const View<T>& view, const Key& key) {
    const auto found = view.position(key);
    return found != view.objects.end() && (*found)->key == key ? *found : nullptr;
  }

  static void insert(View<T>& view, Entry entry) {
    const auto found = view.position(entry->key);
    if (found != view.objects.end() && (*found)->key == entry->key) {
      view.objects[static_cast<std::size_t>(found - view.objects.begin())] = std::move(entry);
    } else {
      view.objects.insert(found, std::move(entry));
    }
  }

  static void erase(View<T>& view, const Key& key) {
    const auto found = view.position(key);
    if (found != view.objects.end() && (*found)->key == key) view.objects.erase(found);
  }

  void touched(bool is_news = true) {
    if (listing_) return;
    if (is_news) dirty_ = true;
    published_.reset();
  }

  const Decoder decode_;
  const Same same_;
  runtime::Signal& changed_;

  // The writer's own.
  bool listing_ = false;
  View<T> staged_;
  bool dirty_ = false;

  mutable std::mutex mutex_;  // Readers see `live_` under it; the writer changes it under it.
  View<T> live_;
  mutable std::shared_ptr<const View<T>> published_;
};

}  // namespace kube
