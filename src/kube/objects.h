#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/resource.h"

namespace kube {

// One object as the consumer decoded it: only what its decoder keeps takes memory.
template <typename T>
struct Object {
  Key key;
  std::string uid;
  std::uint64_t version = 0;
  T value;
};

// Objects in the order of their keys: in leaves, and those in branches. Two of these can share branches and leaves, and
// a change to one of them copies only the leaf and the branch that it falls into: so a view of ten thousand objects
// costs a handful of pointers, and a change, or finding out what has changed between two views, some dozens. (A pointer
// is dear here: its count lies beside the object, and when an event comes, none of that is in a cache.)
template <typename T>
class Objects {
 public:
  using Entry = std::shared_ptr<const Object<T>>;
  class Iterator;
  using iterator = Iterator;
  using const_iterator = Iterator;

  Objects() = default;
  Objects(Objects&& other) noexcept { swap(other); }
  Objects(const Objects& other) {
    for (const Entry& entry : other) insert(entry);
  }
  Objects& operator=(Objects other) noexcept {
    swap(other);
    return *this;
  }
  ~Objects() = default;

  // The same objects. Neither sees what happens to the other from now on.
  Objects share() {
    for (Slot<Branch>& slot : branches_) slot.is_shared = true;
    Objects out;
    out.branches_ = branches_;
    out.size_ = size_;
    return out;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Entry& front() const { return *begin(); }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, branches_.size()}; }

  Entry find(const Key& key) const {
    const Place place = place_of(key);
    return holds(place, key) ? leaf_at(place)[place.at] : nullptr;
  }

  void insert(Entry entry) {
    if (branches_.empty()) {
      size_ = 1;
      branches_.emplace_back().part->emplace_back().part->push_back(std::move(entry));
      note_first_keys({});
      return;
    }
    Place place = place_of(entry->key);
    if (holds(place, entry->key)) {
      own(own(branches_[place.branch])[place.leaf])[place.at] = std::move(entry);
      note_first_keys(place);
      return;
    }
    if (leaf_at(place).size() == kWidth) {
      make_room(place);
      place = place_of(entry->key);
    }
    ++size_;
    Leaf& leaf = own(own(branches_[place.branch])[place.leaf]);
    leaf.insert(leaf.begin() + distance(place.at), std::move(entry));
    note_first_keys(place);
  }

  void erase(const Key& key) {
    const Place place = place_of(key);
    if (!holds(place, key)) return;
    --size_;
    Branch& branch = own(branches_[place.branch]);
    Leaf& leaf = own(branch[place.leaf]);
    leaf.erase(leaf.begin() + distance(place.at));
    // What became small stays so: keys come back, or the next list makes full ones.
    if (leaf.empty()) branch.erase(branch.begin() + distance(place.leaf));
    if (branch.empty()) {
      branches_.erase(branches_.begin() + distance(place.branch));
    } else {
      note_first_keys({.branch = place.branch, .leaf = std::min(place.leaf, branch.size() - 1)});
    }
  }

  // Calls `tell(before, after)` for each key under which the two hold different objects, in their order; one of the
  // pointers is null where there is none. What they share is passed over without a look at it.
  template <typename Tell>
  friend void compare(const Objects& before, const Objects& after, Tell tell) {
    Iterator left = before.begin();
    Iterator right = after.begin();
    while (left != before.end() || right != after.end()) {
      if (left.skip_shared(right)) continue;
      if (right == after.end() || (left != before.end() && (*left)->key < (*right)->key)) {
        tell((left++)->get(), static_cast<const Object<T>*>(nullptr));
      } else if (left == before.end() || (*right)->key < (*left)->key) {
        tell(static_cast<const Object<T>*>(nullptr), (right++)->get());
      } else {
        tell((left++)->get(), (right++)->get());
      }
    }
  }

 private:
  static constexpr std::size_t kWidth = 32;  // About the third root of the most we expect.

  // A shared part is copied before it changes, and all that the copy holds is shared from then on.
  template <typename Part>
  struct Slot {
    std::shared_ptr<Part> part = std::make_shared<Part>();
    bool is_shared = false;      // Not asked of the pointer: its count says nothing of who has finished reading.
    const Key* first = nullptr;  // Of the objects in it: so a search looks at one place in memory for each step.
  };
  using Leaf = std::vector<Entry>;
  using Branch = std::vector<Slot<Leaf>>;
  struct Place {
    std::size_t branch = 0;
    std::size_t leaf = 0;
    std::size_t at = 0;
  };

  static std::ptrdiff_t distance(std::size_t places) { return static_cast<std::ptrdiff_t>(places); }
  static const Key* first_in(const Leaf& leaf) { return &leaf.front()->key; }
  static const Key* first_in(const Branch& branch) { return branch.front().first; }

  // After a change there, of parts that are ours.
  void note_first_keys(const Place& place) {
    Branch& branch = *branches_[place.branch].part;
    branch[place.leaf].first = first_in(*branch[place.leaf].part);
    branches_[place.branch].first = first_in(branch);
  }

  // The part where the key is, or belongs: the last one that does not begin after it.
  template <typename Slots>
  static std::size_t part_with(const Slots& slots, const Key& key) {
    const auto after =
        std::ranges::upper_bound(slots, key, {}, [](const auto& slot) -> const Key& { return *slot.first; });
    return after == slots.begin() ? 0 : static_cast<std::size_t>(after - slots.begin()) - 1;
  }

  Place place_of(const Key& key) const {
    Place out;
    if (branches_.empty()) return out;
    out.branch = part_with(branches_, key);
    out.leaf = part_with(*branches_[out.branch].part, key);
    const Leaf& leaf = leaf_at(out);
    const auto found =
        std::ranges::lower_bound(leaf, key, {}, [](const Entry& entry) -> const Key& { return entry->key; });
    out.at = static_cast<std::size_t>(found - leaf.begin());
    return out;
  }

  const Leaf& leaf_at(const Place& place) const { return *(*branches_[place.branch].part)[place.leaf].part; }

  bool holds(const Place& place, const Key& key) const {
    return !branches_.empty() && place.at < leaf_at(place).size() && leaf_at(place)[place.at]->key == key;
  }

  static Leaf& own(Slot<Leaf>& slot) {
    if (std::exchange(slot.is_shared, false)) slot.part = std::make_shared<Leaf>(*slot.part);
    return *slot.part;
  }
  static Branch& own(Slot<Branch>& slot) {
    if (std::exchange(slot.is_shared, false)) {
      slot.part = std::make_shared<Branch>(*slot.part);
      for (Slot<Leaf>& leaf : *slot.part) leaf.is_shared = true;
    }
    return *slot.part;
  }

  void make_room(const Place& place) {
    Branch& branch = own(branches_[place.branch]);
    const bool is_last_branch = place.branch + 1 == branches_.size();
    const bool is_last_leaf = is_last_branch && place.leaf + 1 == branch.size();
    split(branch, place.leaf, is_last_leaf);
    if (branch.size() > kWidth) split(branches_, place.branch, is_last_branch);
  }

  // In halves; but a list comes in order, and what lies behind its end stays full.
  template <typename Slots>
  static void split(Slots& slots, std::size_t at, bool is_last) {
    auto& part = own(slots[at]);
    const auto cut = part.begin() + distance(is_last ? kWidth - 1 : kWidth / 2);
    typename Slots::value_type rest;
    rest.part->assign(std::move_iterator(cut), std::move_iterator(part.end()));
    part.erase(cut, part.end());
    rest.first = first_in(*rest.part);
    slots.insert(slots.begin() + distance(at) + 1, std::move(rest));
  }

  void swap(Objects& other) noexcept {
    branches_.swap(other.branches_);
    std::swap(size_, other.size_);
  }

  std::vector<Slot<Branch>> branches_;
  std::size_t size_ = 0;
};

template <typename T>
class Objects<T>::Iterator {
 public:
  using value_type = Entry;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;
  using pointer = const Entry*;
  using reference = const Entry&;

  Iterator() = default;
  Iterator(const Objects* of, std::size_t branch) : of_(of), branch_(branch) { enter_leaf(); }

  const Entry& operator*() const { return *here_; }
  const Entry* operator->() const { return here_; }
  Iterator& operator++() {
    if (++here_ == leaf_end_) next_leaf();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const { return here_ == other.here_; }

  // Moves both behind what they share here: the rest of a branch or of a leaf, or a single object.
  bool skip_shared(Iterator& other) {
    if (here_ == nullptr || other.here_ == nullptr) return false;
    if (here_ == other.here_) {
      leave_shared(other);
      return true;
    }
    if (*here_ != *other.here_) return false;
    ++*this;
    ++other;
    return true;
  }

 private:
  void enter_leaf() {
    here_ = leaf_end_ = nullptr;
    if (branch_ == of_->branches_.size()) return;
    const Leaf& leaf = *(*of_->branches_[branch_].part)[leaf_].part;
    here_ = leaf.data();
    leaf_end_ = here_ + leaf.size();
  }
  // Out of the leaf that both are in, and past all that they share behind it. None of that is looked into: it would
  // have to come from memory, just to be passed over.
  void leave_shared(Iterator& other) {
    const auto& branches = of_->branches_;
    const auto& others = other.of_->branches_;
    if (branches[branch_].part == others[other.branch_].part) {
      pass_shared(branches, branch_, others, other.branch_);
      leaf_ = other.leaf_ = 0;
    } else {
      pass_shared(*branches[branch_].part, leaf_, *others[other.branch_].part, other.leaf_);
      end_branch();
      other.end_branch();
    }
    enter_leaf();
    other.enter_leaf();
  }
  template <typename Slots>
  static void pass_shared(const Slots& slots, std::size_t& at, const Slots& others, std::size_t& other_at) {
    do {
      ++at;
      ++other_at;
    } while (at < slots.size() && other_at < others.size() && slots[at].part == others[other_at].part);
  }
  void end_branch() {
    if (leaf_ < of_->branches_[branch_].part->size()) return;
    ++branch_;
    leaf_ = 0;
  }
  void next_leaf() {
    ++leaf_;
    end_branch();
    enter_leaf();
  }

  const Objects* of_ = nullptr;
  std::size_t branch_ = 0;
  std::size_t leaf_ = 0;
  const Entry* here_ = nullptr;  // Null at the end.
  const Entry* leaf_end_ = nullptr;
};

}  // namespace kube
