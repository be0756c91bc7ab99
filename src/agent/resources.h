#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "kube/resource.h"

namespace agent {

inline kube::Resource ours(std::string_view plural, bool namespaced = false) {
  return {.group = std::string(api::kGroup),
          .version = std::string(api::kVersion),
          .plural = std::string(plural),
          .namespaced = namespaced};
}

// Of those of the core group we read only Nodes.
inline kube::Resource nodes() {
  return {.group = "", .version = "v1", .plural = "nodes", .namespaced = false};
}

}  // namespace agent
