// What `nft -j list ruleset` printed, from any host: read the same way twice, and never beyond its own bounds.
#include "cli/nft_json.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto dumped = cli::parse_nft_table(text);
  const auto again = cli::parse_nft_table(text);
  if (dumped.has_value() != again.has_value()) std::abort();
  if (dumped && dumped->table != again->table) std::abort();
  return 0;
}
