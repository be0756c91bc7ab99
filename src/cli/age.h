#pragma once

#include <chrono>
#include <string>

namespace cli {

// "12s", "3m12s", "5h", "2d": as kubectl counts.
std::string age_text(std::chrono::seconds age);

}  // namespace cli
