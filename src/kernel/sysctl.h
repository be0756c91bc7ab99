#pragma once

#include "base/result.h"
#include "state/sysctl.h"

namespace kernel {

// The value in force in the calling thread's network namespace; `key.value` is not looked at. Fault::absent without the
// link or the setting.
base::Result<std::int32_t> read_sysctl(const state::Sysctl& key);

// Writes where the value differs. In a container /proc/sys is usually read-only: Fault::denied, and the message has the
// line that an administrator would need.
base::Status write_sysctl(const state::Sysctl& sysctl);

// The reverse path filter that packets of the link meet: the larger of its own and `all`.
base::Result<std::int32_t> effective_rp_filter(const net::InterfaceName& dev);

}  // namespace kernel
