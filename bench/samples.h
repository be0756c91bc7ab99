#pragma once

#include "state/net_state.h"

namespace bench {

// `count` host sources to table 100 at priority 1000, from 10.0.0.0 on.
state::NetState many_rules(std::uint32_t count);

}  // namespace bench
