#pragma once

#include <cstdint>
#include <string>

#include "intent/cluster/sample.h"
#include "state/net_state.h"

// The worlds that are measured, the same for every group.
namespace bench {

// `count` host sources to table 100 at priority 1000, from 10.0.0.0 on.
state::NetState many_rules(std::uint32_t count);

// The i-th LoadBalancer Service as an API server sends it, with the fields nobody here reads: labels, annotations,
// managedFields, ports.
std::string service_json(std::uint32_t i);

// `services` Services, each with an address of its own, under `rules` IPRules that nest and overlap.
intent::Sample many_services(std::uint32_t services, std::uint32_t rules);

}  // namespace bench
