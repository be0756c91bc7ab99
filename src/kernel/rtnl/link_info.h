#pragma once

#include <span>

#include "base/result.h"
#include "kernel/netlink/message.h"
#include "state/link.h"

// IFLA_LINKINFO: the kind of a link and what belongs to the kind. Part of link.cpp.
namespace kernel::rtnl {

void put_link_info(Message& message, const state::Link& link);

base::Status read_link_info(state::ObservedLink& into, std::span<const std::byte> rest);

}  // namespace kernel::rtnl
