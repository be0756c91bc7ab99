#pragma once

#include <string>

#include "base/result.h"

namespace bench {

// The built program of bench/peer.
base::Result<std::string> peer_program();

}  // namespace bench
