#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace cli {

struct LabOptions {
  std::filesystem::path agent;  // The iprule-agent program that is shown.
};

// Builds the example world inside the sandbox, sends real requests with and without an IPRule that the real agent
// holds, and prints what was counted at the gateways. True when every reply took the uplink it should.
base::Result<bool> show_lab(const LabOptions& options, const std::function<void(std::string_view)>& print);

}  // namespace cli
