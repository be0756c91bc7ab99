#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace state {

// A number of policy routing that the kernel or another program uses. This is the one list of them: warnings are made
// from it, and docs/reference/numbers.md.
struct KnownNumber {
  enum class Kind : std::uint8_t { priority, table, mark };
  enum class Clash : std::uint8_t {
    none,         // To share it does no harm by itself, or has a warning of its own.
    at_it,        // Whoever takes it should know.
    up_to_local,  // The rule for `local` is moved there: whatever does not stand behind it decides before it.
  };

  Kind kind = Kind::priority;
  std::uint32_t first = 0;  // Of a mark: its bits.
  std::uint32_t last = 0;
  std::string_view who{};
  std::string_view what{};  // "looks up main": what it does there.
  Clash clash = Clash::at_it;

  constexpr bool covers(std::uint32_t number) const { return first <= number && number <= last; }
};

inline constexpr std::string_view kCilium = "Cilium";
inline constexpr std::uint32_t kCiliumMark = 0x0f00;

std::span<const KnownNumber> known_numbers();

// Whether `who` uses this priority or table.
bool uses(std::string_view who, KnownNumber::Kind kind, std::uint32_t number);

}  // namespace state
