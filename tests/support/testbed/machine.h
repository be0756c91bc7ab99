#pragma once

#include <string_view>

#include <gtest/gtest.h>

namespace testbed {

// What a machine's kernel or installation may lack: "bond", "dummy", "vlan", "vrf" (link kinds), "cgroup-v1",
// "nftables", "nftables-inet" (tables for both families), "user-namespaces", "user-mode-linux". Aborts on any other
// name.
bool machine_has(std::string_view feature);

}  // namespace testbed

// Skips the test if the machine lacks the feature. The test must be listed for it in tests/known-skips, else the run is
// red; .ci/count-results reads the message.
#define SKIP_UNLESS_MACHINE_HAS(feature) \
  if (!testbed::machine_has(feature)) GTEST_SKIP() << "machine lacks " << (feature)
