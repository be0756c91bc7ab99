// The payload of a nexthop message.
#include "kernel/rtnl/nexthop.h"
#include "tests/fuzz/netlink_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::try_payload<state::Nexthop>(
      {data, size},
      [](const kernel::Received& message) { return kernel::rtnl::decode_nexthop(message, fuzz::links()); },
      [](const state::Nexthop& nexthop) { return kernel::rtnl::encode_add(nexthop, fuzz::links()); });
}
