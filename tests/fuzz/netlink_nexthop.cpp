// The payload of a nexthop message. What is decoded and may be desired must be encoded to the same nexthop.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/rtnl/nexthop.h"

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
  const auto decoded = kernel::rtnl::decode_nexthop({.payload = payload}, kLinks);
  if (!decoded) return 0;
  const auto* const nexthop = std::get_if<state::Nexthop>(&*decoded);
  if (nexthop == nullptr || !validate(*nexthop)) return 0;
  const auto message = kernel::rtnl::encode_add(*nexthop, kLinks);
  if (!message) std::abort();
  std::span<const std::byte> bytes = message->bytes();
  const auto again = kernel::rtnl::decode_nexthop(kernel::next_message(bytes).value(), kLinks);
  if (!again || std::get<state::Nexthop>(*again) != *nexthop) std::abort();
  return 0;
}
