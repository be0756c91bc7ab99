#include "cli/age.h"

#include <algorithm>

#include <fmt/format.h>

namespace cli {

std::string age_text(std::chrono::seconds age) {
  using namespace std::chrono_literals;
  const auto count = [&](std::chrono::seconds unit) { return age / unit; };
  age = std::max(age, 0s);
  if (age < 2min) return fmt::format("{}s", age.count());
  if (age < 10min) return fmt::format("{}m{}s", count(1min), (age % 1min).count());
  if (age < 3h) return fmt::format("{}m", count(1min));
  if (age < 48h) return fmt::format("{}h", count(1h));
  return fmt::format("{}d", count(24h));
}

}  // namespace cli
