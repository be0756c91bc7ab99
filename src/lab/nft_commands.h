#pragma once

#include <string>

#include "base/result.h"

namespace lab {

// Commands in the words of nft, in one transaction, in the network namespace of the calling thread. An error has nft's
// own words.
base::Status run_nft(const std::string& commands);

}  // namespace lab
