#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/page.h"

namespace cli {

enum class Severity : std::uint8_t { info, warning, error };
constexpr std::array<std::string_view, 3> kSeverities = {"info", "warning", "error"};
constexpr std::string_view text(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}
constexpr Tone tone_of(Severity severity) {
  return severity == Severity::error ? Tone::bad : severity == Severity::warning ? Tone::warning : Tone::plain;
}

// Something that somebody should know; the code has a page in docs/findings.
struct Finding {
  Severity severity = Severity::info;
  std::string code;
  std::string object;  // "IPRule/public-eu"
  std::string message;
  std::vector<std::string> nodes{};  // Of what nodes show: on which.

  auto operator<=>(const Finding&) const = default;
};

}  // namespace cli
