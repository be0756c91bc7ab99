// What `ip -j rule` printed, from any host. What is understood must survive its own text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/ip_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto dumped = cli::parse_ip_rules(net::Family::v4, text);
  if (!dumped) return 0;
  for (const state::Rule& rule : dumped->rules) {
    if (!state::validate(rule)) continue;
    if (state::parse_rule(rule.family, state::text(rule)).value() != rule) std::abort();
  }
  return 0;
}
