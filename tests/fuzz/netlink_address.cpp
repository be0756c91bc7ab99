// The payload of an address message.
#include "kernel/rtnl/address.h"
#include "tests/fuzz/netlink_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::try_payload<state::InterfaceAddress>(
      {data, size},
      [](const kernel::Received& message) { return kernel::rtnl::decode_address(message, fuzz::links()); },
      [](const state::InterfaceAddress& address) { return kernel::rtnl::encode_add(address, fuzz::links()); });
}
