// The payload of a route message. What is decoded as a route must be encoded to the same route; what is opaque must
// keep its bytes.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/rtnl/route.h"

namespace {

// A few devices, as a fuzzer finds them.
kernel::rtnl::LinkTable links() {
  kernel::rtnl::LinkTable out;
  out.add(1, net::InterfaceName::parse("lo").value());
  out.add(2, net::InterfaceName::parse("eth0").value());
  out.add(3, net::InterfaceName::parse("eth1").value());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kernel::rtnl::LinkTable kLinks = links();
  const std::span<const std::byte> payload = std::as_bytes(std::span(data, size));
  const auto decoded = kernel::rtnl::decode_route({.payload = payload}, kLinks);
  if (!decoded) return 0;
  if (const auto* const opaque = std::get_if<state::OpaqueRoute>(&*decoded)) {
    (void)text(*opaque);
    (void)kernel::rtnl::encode_remove(*opaque);
    return 0;
  }
  const auto& route = std::get<state::Route>(*decoded);
  (void)text(route);
  // What validates is what we may desire: that must survive the wire.
  if (!validate(route)) return 0;
  const auto message = kernel::rtnl::encode_add(route, kLinks);
  if (!message) std::abort();
  std::span<const std::byte> bytes = message->bytes();
  const auto again = kernel::rtnl::decode_route(kernel::next_message(bytes).value(), kLinks);
  if (!again || std::get<state::Route>(*again) != route) std::abort();
  return 0;
}
