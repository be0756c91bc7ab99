#include "state/net_state.h"

#include <fmt/format.h>

namespace state {

std::string text(const OpaqueRule& rule) {
  return fmt::format("{}: ({}) lookup {} proto {}", rule.priority, rule.reason, rule.table, rule.protocol);
}

}  // namespace state
