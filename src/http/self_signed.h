#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace http {

// A certificate (with its chain) and its key, in PEM.
struct KeyPair {
  std::string certificate;
  std::string key;
};

// A new P-256 key and a certificate that it signs itself, for these DNS names and addresses.
base::Result<KeyPair> make_self_signed(const std::vector<std::string>& names, std::chrono::seconds lifetime);

}  // namespace http
