#pragma once

#include "meta/labels.h"

namespace api {

// Amounts of cpu and memory by name. Manifests write them as numbers or strings; here they are strings.
struct Quantities {
  meta::Labels amounts;
  bool operator==(const Quantities&) const = default;
};

}  // namespace api
