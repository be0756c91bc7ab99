#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "testbed/process.h"

namespace testbed {

// Boots another kernel, User-mode Linux from Debian's package, as a program of this one; runs a program in it as root
// and returns how that ended and what it wrote (to either output). The guest has one processor, no network, the links
// of kind bond, bridge, dummy, veth, vlan and vrf that a machine's kernel may lack, and this machine's files,
// read-only.
//
// A program built with AddressSanitizer cannot run there: the guest's address space has no room for its shadow.
base::Result<Finished> run_in_user_mode_linux(const std::vector<std::string>& arguments, base::Duration bound);

}  // namespace testbed
