// The payload of a rule message, and the removal by its own bytes of what is opaque.
#include "kernel/rtnl/rule.h"
#include "tests/fuzz/netlink_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto decode = [](const kernel::Received& message) {
    auto decoded = kernel::rtnl::decode_rule(message);
    if (decoded && std::holds_alternative<state::OpaqueRule>(*decoded)) {
      (void)kernel::rtnl::encode_remove(std::get<state::OpaqueRule>(*decoded));
    }
    return decoded;
  };
  return fuzz::try_payload<state::Rule>({data, size}, decode,
                                        [](const state::Rule& rule) { return kernel::rtnl::encode_add(rule, true); });
}
