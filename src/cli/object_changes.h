#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/manifests.h"

namespace cli {

// A field that an apply would change, as JSON; "null" where it is not there.
struct FieldChange {
  std::string path;  // "spec.source.modes"
  std::string from;
  std::string to;

  bool operator==(const FieldChange&) const = default;
};

// What an apply would do to one object.
struct ObjectChange {
  std::string object;               // "IPRule/public-eu"
  bool is_new = false;              // Nothing of this name is there.
  std::int64_t generation = 0;      // Of what is there.
  std::vector<FieldChange> fields;  // Of the spec.

  bool changes() const { return is_new || !fields.empty(); }
};

// Of the IPRules and Agents among `changes`, in their order.
std::vector<ObjectChange> object_changes(const agent::Manifests& there, const agent::Manifests& changes);

// "IPRule/public-eu  generation 3 -> 4  spec.source.modes [ClusterIP] -> [Reply]"
std::string text(const ObjectChange& change);

}  // namespace cli
