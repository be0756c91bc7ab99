#include "api/duration.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace api {
namespace {

using Unit = std::pair<std::string_view, double>;
constexpr std::array<Unit, 8> kUnits = {
    {{"ns", 1}, {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
constexpr double kMost = 366 * 24 * 3600e9;

const Unit* find_unit(std::string_view word) {
  for (const Unit& unit : kUnits) {
    if (unit.first == word) return &unit;
  }
  return nullptr;
}

}  // namespace

base::Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto wrong = [text] {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is not a time such as 30s or 1m30s", text));
  };
  double total = 0;
  std::string_view rest = text;
  if (rest.empty()) return wrong();
  while (!rest.empty()) {
    const std::size_t digits = rest.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return wrong();
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, number, std::chars_format::fixed);
    if (error != std::errc() || end != rest.data() + digits) return wrong();
    rest.remove_prefix(digits);
    const std::string_view word = rest.substr(0, rest.find_first_of("0123456789."));
    const Unit* unit = find_unit(word);
    if (unit == nullptr) return wrong();
    total += number * unit->second;
    if (total > kMost) return wrong();
    rest.remove_prefix(word.size());
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

}  // namespace api
