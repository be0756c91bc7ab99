#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "kernel/netlink/message.h"
#include "kernel/rtnl/link_table.h"

namespace fuzz {

// A few devices, as a fuzzer finds them.
inline const kernel::rtnl::LinkTable& links() {
  static const kernel::rtnl::LinkTable kLinks = [] {
    kernel::rtnl::LinkTable out;
    out.add(1, net::InterfaceName::parse("lo").value());
    out.add(2, net::InterfaceName::parse("eth0").value());
    out.add(3, net::InterfaceName::parse("eth1").value());
    return out;
  }();
  return kLinks;
}

// One payload as the kernel sends it about an object. What is read and could be desired must be encoded, and read from
// that as the same; of the rest no more is asked than that it does no harm.
template <typename Object, typename Decode, typename Encode>
int try_payload(std::span<const std::uint8_t> payload, Decode decode, Encode encode) {
  const auto decoded = decode(kernel::Received{.payload = std::as_bytes(payload)});
  if (!decoded) return 0;
  std::visit([](const auto& some) { (void)text(some); }, *decoded);
  const auto* const object = std::get_if<Object>(&*decoded);
  if (object == nullptr || object->protocol == 0 || !validate(*object)) return 0;
  const auto message = encode(*object);
  if (!message) std::abort();
  std::span<const std::byte> bytes = message->bytes();
  const auto again = decode(kernel::next_message(bytes).value());
  if (!again || std::get<Object>(*again) != *object) std::abort();
  return 0;
}

}  // namespace fuzz
