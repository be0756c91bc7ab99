#pragma once

#include <variant>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/rtnl/link_table.h"
#include "state/nexthop.h"

namespace kernel::rtnl {

// A device that does not exist is Fault::absent; a message without id or protocol is Fault::bug.
base::Result<Message> encode_add(const state::Nexthop& nexthop, const LinkTable& links);
// Overwrites whatever has the same id, foreign or not: only for one that was read and is ours.
base::Result<Message> encode_replace(const state::Nexthop& nexthop, const LinkTable& links);
// The kernel takes only the id in a delete, and refuses more: the caller has read it and knows it is ours. Routes over
// it go without an event of their own, unless a group they use has other members.
base::Result<Message> encode_remove(const state::Nexthop& nexthop);

Message encode_nexthop_dump();

using DecodedNexthop = std::variant<state::Nexthop, state::OpaqueNexthop>;

// From RTM_NEWNEXTHOP or RTM_DELNEXTHOP. One with an attribute, flag or device we do not know is opaque; a message that
// is cut or whose lengths do not add up is an error.
base::Result<DecodedNexthop> decode_nexthop(const Received& message, const LinkTable& links);

}  // namespace kernel::rtnl
