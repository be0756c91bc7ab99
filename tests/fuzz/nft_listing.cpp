// Listings of nftables: whatever is called ours, with nothing strange in it, is a table we could have made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernel/nft/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto observed = kernel::nft::decode_table(text);
  if (!observed || !observed->table || !observed->strange.empty()) return 0;
  if (!state::validate(*observed->table)) std::abort();
  if (!state::diff(*observed, observed->table).empty()) std::abort();
  return 0;
}
