#pragma once

#include <cstdint>
#include <string>

#include "intent/cluster/sample.h"
#include "json/message_test.h"
#include "state/net_state.h"

// The worlds that are measured, the same for every group.
namespace bench {

// The i-th address of an IPv4 /8, and the i-th of 2001:db8::/64.
std::string sample_address(std::uint32_t first, std::uint32_t i);
std::string sample_address6(std::uint32_t i);

// `count` host sources to table 100 at priority 1000, from 10.0.0.0 on.
state::NetState many_rules(std::uint32_t count);

// The same sources in one class of our nft table.
inline constexpr std::uint32_t kMarkWindow = 0x3f00;
inline constexpr std::uint32_t kMark = 0x100;
state::NetState many_marks(std::uint32_t count);

// The i-th LoadBalancer Service as an API server sends it, with the fields nobody here reads: labels, annotations,
// managedFields, ports.
std::string service_json(std::uint32_t i);

// The same as a message.
json::WrittenMessage service_message(std::uint32_t i);

// `services` Services, each with an address of its own, under `rules` IPRules that nest and overlap.
intent::Sample many_services(std::uint32_t services, std::uint32_t rules);

}  // namespace bench
