#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// What of a diff somebody wants to see.
struct DiffView {
  static constexpr std::array<std::string_view, 2> kClasses = {"rule", "nft"};  // What an agent keeps.

  std::vector<std::string> classes{};  // Only these; empty: all.
  bool foreign = false;                // Also the rules of others, which are left alone.

  bool shows(std::string_view name) const {
    return classes.empty() || std::ranges::find(classes, name) != classes.end();
  }
  bool is_whole() const { return classes.empty() && !foreign; }
  bool operator==(const DiffView&) const = default;
};

}  // namespace cli
