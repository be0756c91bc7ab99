#include "dataplane/recognition.h"

#include <algorithm>
#include <map>

namespace dataplane {
namespace {

class Recognition {
 public:
  Recognition(Marks& marks, std::uint32_t window, std::uint8_t protocol)
      : marks_(marks), window_(window), protocol_(protocol) {}

  void find(const Classes& classes) {
    for (const auto& [mark, remains] : marks_.unremembered) {
      for (const auto& [key, members] : classes) {
        if (remains.members.empty() || !std::ranges::includes(members, remains.members)) continue;
        if (fits(key, mark, remains)) owners_.emplace(mark, key);
      }
    }
  }

  void give() {
    for (const auto& [mark, key] : owners_) give(mark, key);
  }

  // Classes for both have no members of their own: the source's chain leads to them.
  void find_joins(const Classes& sources, const Classes& replies) {
    for (const auto& [source, members] : sources) {
      const Remains* remains = remains_of(source);
      if (remains == nullptr) continue;
      for (const auto& [reply, vips] : replies) {
        const auto held = marks_.held.find(reply);
        if (held == marks_.held.end()) continue;
        const auto joined = remains->joins.find(held->second);
        if (joined == remains->joins.end()) continue;
        const auto both = marks_.unremembered.find(joined->second);
        const ClassKey key = join(source, reply);
        if (both != marks_.unremembered.end() && fits(key, both->first, both->second))
          owners_.emplace(both->first, key);
      }
    }
  }

 private:
  // Of the class's kind, and all that is left of its rules is among those the class wants.
  bool fits(const ClassKey& key, std::uint32_t mark, const Remains& remains) const {
    if (key.kind != remains.kind) return false;
    return std::ranges::all_of(remains.rules, [&](const state::Rule& rule) {
      const auto wanted = class_rules(key, {.value = mark, .mask = window_}, rule.family, protocol_);
      return std::ranges::find(wanted, rule) != wanted.end();
    });
  }

  void give(std::uint32_t mark, const ClassKey& key) {
    if (const auto held = marks_.held.find(key); held != marks_.held.end()) {
      const auto owner = owners_.find(held->second);
      if (owner == owners_.end() || owner->second == key) return;  // It has one, and rightly.
    }
    std::erase_if(marks_.held, [&](const auto& entry) { return entry.second == mark; });
    marks_.held.insert_or_assign(key, mark);
  }

  const Remains* remains_of(const ClassKey& key) const {
    const auto held = marks_.held.find(key);
    if (held == marks_.held.end()) return nullptr;
    const auto found = marks_.unremembered.find(held->second);
    return found == marks_.unremembered.end() ? nullptr : &found->second;
  }

  Marks& marks_;
  std::uint32_t window_;
  std::uint8_t protocol_;
  std::map<std::uint32_t, ClassKey> owners_;  // By mark, as its members say.
};

}  // namespace

Marks recognise(Marks marks, const Classes& sources, const Classes& replies, std::uint32_t window,
                std::uint8_t protocol) {
  Recognition recognition(marks, window, protocol);
  recognition.find(sources);
  recognition.find(replies);
  recognition.give();
  recognition.find_joins(sources, replies);
  recognition.give();
  return marks;
}

}  // namespace dataplane
