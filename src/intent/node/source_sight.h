#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/iprule.h"
#include "state/node_facts.h"

// Which source modes can work behind which service proxy. Measured with the real ones; what the controller says of an
// IPRule and what `iprulectl doctor` says of a node come from this one table.
namespace intent {

// Whether replies carry what a mode looks for at the moment their route is chosen. In order: the best of several modes
// is the greatest.
enum class Sight : std::uint8_t {
  never,    // None does: such a rule stands there and steers nothing.
  unknown,  // It depends on a data path that shows itself in nothing we look at.
  always,
};

Sight sight_of(api::SourceMode mode, state::ServiceProxy proxy);

// Every mode there is that is seen so there, in the order of the API.
std::vector<api::SourceMode> modes_with(Sight sight, state::ServiceProxy proxy);

// What makes the IPRule use that mode and no other.
std::string patch_command(std::string_view rule, api::SourceMode mode);

}  // namespace intent
