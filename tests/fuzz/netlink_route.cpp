// The payload of a route message, of a table's or of one packet's, and the removal by its own bytes of what is opaque.
#include "kernel/rtnl/route.h"
#include "kernel/rtnl/route_query.h"
#include "tests/fuzz/netlink_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto decode = [](const kernel::Received& message) {
    auto decoded = kernel::rtnl::decode_route(message, fuzz::links());
    if (decoded && std::holds_alternative<state::OpaqueRoute>(*decoded)) {
      (void)kernel::rtnl::encode_remove(std::get<state::OpaqueRoute>(*decoded));
    }
    return decoded;
  };
  (void)kernel::rtnl::decode_route_answer({.payload = std::as_bytes(std::span(data, size))}, fuzz::links());
  return fuzz::try_payload<state::Route>(
      {data, size}, decode, [](const state::Route& route) { return kernel::rtnl::encode_add(route, fuzz::links()); });
}
