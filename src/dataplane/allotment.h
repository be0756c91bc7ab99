#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dataplane/mark_class.h"

namespace dataplane {

// Hands out marks for one compilation: a class that holds one keeps it, others get the lowest free one.
class Allotment {
 public:
  Allotment() = default;  // Has none.
  Allotment(const Marks& marks, std::uint32_t window);

  // A mark for every one of them, or for none: false where the window has not enough left.
  bool take(const std::set<ClassKey>& keys);

  const std::map<ClassKey, std::uint32_t>& taken() const { return taken_; }
  std::uint32_t mark_of(const ClassKey& key) const { return taken_.at(key); }

 private:
  std::map<ClassKey, std::uint32_t> held_;
  std::set<std::uint32_t> free_;
  std::map<ClassKey, std::uint32_t> taken_;
};

}  // namespace dataplane
