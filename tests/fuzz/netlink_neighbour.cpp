// The payload of a message about a neighbour.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/rtnl/neighbour.h"
#include "tests/fuzz/netlink_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto payload = std::as_bytes(std::span(data, size));
  const auto neighbour = kernel::rtnl::decode_neighbour({.payload = payload}, fuzz::links());
  if (neighbour && *neighbour && (*neighbour)->dev.empty()) std::abort();
  return 0;
}
