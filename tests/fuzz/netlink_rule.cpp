// The payload of a rule message. What is decoded as a rule must be encoded to the same rule; what is opaque must keep
// its bytes.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/rtnl/rule.h"

namespace {

state::Rule decoded_again(const kernel::Message& message) {
  std::span<const std::byte> bytes = message.bytes();
  const auto received = kernel::next_message(bytes).value();
  return std::get<state::Rule>(kernel::rtnl::decode_rule(received).value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> payload = std::as_bytes(std::span(data, size));
  const auto decoded = kernel::rtnl::decode_rule({.payload = payload});
  if (!decoded) return 0;
  if (const auto* const rule = std::get_if<state::Rule>(&*decoded)) {
    const auto message = kernel::rtnl::encode_add(*rule, true);
    if (message && decoded_again(*message) != *rule) std::abort();
    (void)text(*rule);
  } else {
    (void)kernel::rtnl::encode_remove(std::get<state::OpaqueRule>(*decoded));
  }
  return 0;
}
