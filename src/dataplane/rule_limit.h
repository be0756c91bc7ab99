#pragma once

#include <cstddef>
#include <span>

#include "dataplane/steering.h"
#include "dataplane/wishes.h"

namespace dataplane {

// Takes sources out of `classes` until they need at most `most` rules, and returns them. The oldest wishes stay; those
// of one object, which have one epoch, stay or go together.
Addresses remove_youngest(Classes& classes, std::span<const Source> wishes, std::size_t most);

}  // namespace dataplane
