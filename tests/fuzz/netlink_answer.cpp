// A datagram of the kernel: any number of messages, each an ack, the end of a dump or an event.
#include <cstdint>
#include <span>

#include "kernel/netlink/ack.h"
#include "kernel/netlink/attribute.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  while (!rest.empty()) {
    const auto message = kernel::next_message(rest);
    if (!message) return 0;
    (void)kernel::decode_answer(*message);
  }
  return 0;
}
