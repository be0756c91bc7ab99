#pragma once

#include <string>

#include "api/kinds.h"
#include "kube/resource.h"

namespace controller {

inline const kube::Resource kNodes{.group = "", .version = "v1", .plural = "nodes", .namespaced = false};

// One of our kinds as the API server serves it.
template <typename Kind>
kube::Resource resource_of(bool namespaced = false) {
  return {.group = std::string(api::kGroup),
          .version = std::string(api::kVersion),
          .plural = std::string(Kind::kPlural),
          .namespaced = namespaced};
}

}  // namespace controller
