// A line of `ip rule`. What is understood must survive its own text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "state/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  for (const auto family : {net::Family::v4, net::Family::v6}) {
    const auto rule = state::parse_rule(family, line);
    if (!rule || !state::validate(*rule)) continue;
    if (state::parse_rule(family, text(*rule)).value() != *rule) std::abort();
  }
  return 0;
}
