#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cli {

struct LabOptions {
  std::filesystem::path agent;  // The iprule-agent program that is shown.
  std::string scenario = {};    // One of lab_scenarios(); empty: all of them, one after the other.
};

struct LabScenario {
  std::string name;
  std::string what;
};
const std::vector<LabScenario>& lab_scenarios();

// Builds the example world inside the sandbox, sends real requests while the real agent holds an IPRule and others
// interfere, and prints what was counted at the gateways. True when every reply took the uplink it should.
base::Result<bool> show_lab(const LabOptions& options, const std::function<void(std::string_view)>& print);

}  // namespace cli
