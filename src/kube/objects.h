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

// Objects in the order of their keys, kept in blocks. Two of these can share their blocks, and a change to one of them
// copies only the block that it falls into: so a view of ten thousand objects costs a hundred pointers, and so does
// finding out what has changed between two views.
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
    for (Slot& slot : slots_) slot.is_shared = true;
    Objects out;
    out.slots_ = slots_;
    out.size_ = size_;
    return out;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Entry& front() const { return slots_.front().block->front(); }
  Iterator begin() const { return {this, 0, 0}; }
  Iterator end() const { return {this, slots_.size(), 0}; }

  Entry find(const Key& key) const {
    const auto [slot, at] = place_of(key);
    return holds(slot, at, key) ? (*slots_[slot].block)[at] : nullptr;
  }

  void insert(Entry entry) {
    const auto [slot, at] = place_of(entry->key);
    if (holds(slot, at, entry->key)) {
      own(slot)[at] = std::move(entry);
      return;
    }
    ++size_;
    if (slots_.empty()) slots_.emplace_back();
    Block& block = own(slot);
    block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), std::move(entry));
    if (block.size() > kBlock) split(slot);
  }

  void erase(const Key& key) {
    const auto [slot, at] = place_of(key);
    if (!holds(slot, at, key)) return;
    --size_;
    Block& block = own(slot);
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    if (block.empty()) slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(slot));
    // Blocks that became small stay so: keys come back, or the next list makes full ones.
  }

  // Calls `tell(before, after)` for each key under which the two hold different objects, in their order; one of the
  // pointers is null where there is none. What they share is passed over.
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
        if (*left != *right) tell(left->get(), right->get());
        ++left;
        ++right;
      }
    }
  }

 private:
  using Block = std::vector<Entry>;
  static constexpr std::size_t kBlock = 128;  // About the root of the most we expect.

  struct Slot {
    std::shared_ptr<Block> block = std::make_shared<Block>();
    bool is_shared = false;  // Not asked of the pointer: its count says nothing of who has finished reading.
  };
  struct Place {
    std::size_t slot;
    std::size_t at;
  };

  // Where the key is, or belongs: in the last block that does not begin after it.
  Place place_of(const Key& key) const {
    const auto after = std::ranges::upper_bound(
        slots_, key, {}, [](const Slot& slot) -> const Key& { return slot.block->front()->key; });
    if (after == slots_.begin()) return {0, 0};
    const auto slot = static_cast<std::size_t>(after - slots_.begin()) - 1;
    const Block& block = *slots_[slot].block;
    const auto found =
        std::ranges::lower_bound(block, key, {}, [](const Entry& entry) -> const Key& { return entry->key; });
    return {slot, static_cast<std::size_t>(found - block.begin())};
  }

  bool holds(std::size_t slot, std::size_t at, const Key& key) const {
    return slot < slots_.size() && at < slots_[slot].block->size() && (*slots_[slot].block)[at]->key == key;
  }

  Block& own(std::size_t slot) {
    Slot& one = slots_[slot];
    if (std::exchange(one.is_shared, false)) one.block = std::make_shared<Block>(*one.block);
    return *one.block;
  }

  // A list comes in order: its blocks stay full but for the last.
  void split(std::size_t slot) {
    Block& block = *slots_[slot].block;
    const bool is_last = slot + 1 == slots_.size();
    const auto cut = block.begin() + static_cast<std::ptrdiff_t>(is_last ? kBlock : kBlock / 2);
    Slot rest;
    rest.block->assign(std::move_iterator(cut), std::move_iterator(block.end()));
    block.erase(cut, block.end());
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(slot) + 1, std::move(rest));
  }

  void swap(Objects& other) noexcept {
    slots_.swap(other.slots_);
    std::swap(size_, other.size_);
  }

  std::vector<Slot> slots_;
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
  Iterator(const Objects* of, std::size_t slot, std::size_t at) : of_(of), slot_(slot), at_(at) {}

  const Entry& operator*() const { return (*of_->slots_[slot_].block)[at_]; }
  const Entry* operator->() const { return &**this; }
  Iterator& operator++() {
    if (++at_ == of_->slots_[slot_].block->size()) next_block();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator&) const = default;

  // Moves both behind a block that they share, if both stand at its beginning.
  bool skip_shared(Iterator& other) {
    if (at_ != 0 || other.at_ != 0 || slot_ == of_->slots_.size() || other.slot_ == other.of_->slots_.size() ||
        of_->slots_[slot_].block != other.of_->slots_[other.slot_].block) {
      return false;
    }
    next_block();
    other.next_block();
    return true;
  }

 private:
  void next_block() {
    ++slot_;
    at_ = 0;
  }

  const Objects* of_ = nullptr;
  std::size_t slot_ = 0;
  std::size_t at_ = 0;
};

}  // namespace kube
