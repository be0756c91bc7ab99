#pragma once

#include <string>
#include <vector>

#include "state/net_state.h"

namespace state {

// The rules that every host starts with, as far as they are missing: "IPv4 main", "IPv6 local". Some move them to
// another priority, which is no loss. Without the one for `local` a host hears nobody, without the one for `main` it
// reaches nobody. IPv6 is judged only where there is some. Means something for a verified view only.
std::vector<std::string> missing_baseline(const NetState& observed);

}  // namespace state
