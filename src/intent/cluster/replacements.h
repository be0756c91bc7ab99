#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/iprule_config.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/desired.h"

namespace intent {

// Takes out of `writes` what would steer a source beside an object that steers it now and is not desired, and returns
// it. While an IPRule cannot be read, that one may be the reason for the object: what is desired without it is what
// wins among the others, and nodes would look up whichever of the two has the smaller priority.
std::vector<Write> take_replacements(std::vector<Write>& writes, std::span<const api::IPRuleConfig* const> existing,
                                     const Desired& desired, std::uint32_t default_priority);

}  // namespace intent
