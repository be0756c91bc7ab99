#include "dataplane/allotment.h"

namespace dataplane {

Allotment::Allotment(const Marks& marks, std::uint32_t window) : held_(marks.held) {
  for (std::uint32_t place = 1; place <= state::window_size(window); ++place) {
    const std::uint32_t mark = state::mark_at(place, window);
    if (!marks.in_use.contains(mark)) free_.insert(mark);
  }
  for (const auto& [key, mark] : held_) free_.erase(mark);
}

bool Allotment::take(const std::set<ClassKey>& keys) {
  std::vector<ClassKey> missing;
  for (const ClassKey& key : keys) {
    if (!held_.contains(key) && !taken_.contains(key)) missing.push_back(key);
  }
  if (missing.size() > free_.size()) return false;
  for (const ClassKey& key : missing) taken_.emplace(key, free_.extract(free_.begin()).value());
  for (const ClassKey& key : keys) {
    if (const auto held = held_.find(key); held != held_.end()) taken_.insert(*held);
  }
  return true;
}

}  // namespace dataplane
