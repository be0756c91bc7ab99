// The payload of an address message. What is decoded and may be desired must be encoded to the same address.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/rtnl/address.h"

namespace {

kernel::rtnl::LinkTable links() {
  kernel::rtnl::LinkTable out;
  out.add(2, net::InterfaceName::parse("eth0").value());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kernel::rtnl::LinkTable kLinks = links();
  const std::span<const std::byte> payload = std::as_bytes(std::span(data, size));
  const auto decoded = kernel::rtnl::decode_address({.payload = payload}, kLinks);
  if (!decoded) return 0;
  const auto* const address = std::get_if<state::InterfaceAddress>(&*decoded);
  if (address == nullptr) return 0;
  (void)text(*address);
  if (!validate(*address) || address->protocol == 0) return 0;
  const auto message = kernel::rtnl::encode_add(*address, kLinks);
  if (!message) std::abort();
  return 0;
}
