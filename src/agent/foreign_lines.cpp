#include "agent/foreign_lines.h"

#include <ranges>

#include <fmt/format.h>

namespace agent {

std::string foreign_lines(std::span<const state::Rule> rules, std::size_t most) {
  std::string out;
  for (const state::Rule& rule : rules | std::views::take(most)) {
    out += fmt::format("\nforeign rule in scope: {}", state::text(rule));
  }
  if (rules.size() > most) out += fmt::format("\nand {} more, with ?verbose", rules.size() - most);
  return out;
}

}  // namespace agent
