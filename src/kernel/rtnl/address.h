#pragma once

#include <variant>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/rtnl/link_table.h"
#include "state/address.h"

namespace kernel::rtnl {

// Add and remove share one encoder. A device that does not exist is Fault::absent.
//
// A delete does not compare the protocol: the caller has read the address and knows it is ours. A message without link,
// address, length or protocol is refused as Fault::bug. IPv4: removing a primary address takes the secondary ones of
// its subnet along, unless the link promotes them.
base::Result<Message> encode_add(const state::InterfaceAddress& address, const LinkTable& links);
base::Result<Message> encode_remove(const state::InterfaceAddress& address, const LinkTable& links);

Message encode_address_dump(net::Family family);

using DecodedAddress = std::variant<state::InterfaceAddress, state::OpaqueAddress>;

// From RTM_NEWADDR or RTM_DELADDR. An address with an attribute, flag, link or lifetime we do not know is opaque; a
// message that is cut or whose lengths do not add up is an error. What reports on the address and is no part of it
// (secondary, tentative) is left out.
base::Result<DecodedAddress> decode_address(const Received& message, const LinkTable& links);

}  // namespace kernel::rtnl
