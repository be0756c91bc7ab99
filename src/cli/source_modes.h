#pragma once

#include <string_view>

#include "state/node_facts.h"

namespace cli {

// Which source modes of an IPRule do something on a node with this service proxy; empty where nobody can tell.
struct SourceModes {
  std::string_view works;
  std::string_view fails;
  std::string_view recommended;
};
SourceModes source_modes(state::ServiceProxy proxy);

}  // namespace cli
