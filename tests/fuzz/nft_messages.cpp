// Messages of nftables, as dumps and traces bring them: whatever is called ours, with nothing strange in it, is a table
// we could have made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/nft/decode.h"
#include "kernel/nft/trace_event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  kernel::nft::TableDecoder decoder;
  while (!rest.empty()) {
    const auto message = kernel::next_message(rest);
    if (message && kernel::nft::decode_trace(*message)) continue;
    if (!message || !decoder.take(*message)) return 0;
  }
  const auto observed = std::move(decoder).finish();
  if (!observed || !observed->table || !observed->strange.empty()) return 0;
  if (!state::validate(*observed->table)) std::abort();
  if (!state::diff(*observed, observed->table).empty()) std::abort();
  return 0;
}
