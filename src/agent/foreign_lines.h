#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "state/net_state.h"

namespace agent {

// For the body of `/ready`: a line for each of these rules of others, each after a line break, and one more that counts
// those beyond `most`.
std::string foreign_lines(std::span<const state::Rule> rules, std::size_t most);

}  // namespace agent
