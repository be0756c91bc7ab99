// The payload of a link message.
#include <cstdint>
#include <span>

#include "kernel/rtnl/link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> payload = std::as_bytes(std::span(data, size));
  const auto decoded = kernel::rtnl::decode_link({.payload = payload});
  if (!decoded) return 0;
  (void)text(decoded->link);
  (void)kernel::rtnl::encode_remove(*decoded);
  return 0;
}
