#pragma once

#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/netlink/socket.h"
#include "kernel/rtnl/link_table.h"
#include "state/link.h"

namespace kernel::rtnl {

// The messages that make a link: create, mark as ours, settings. The kernel takes no alias at creation, so the first
// two must go out in one send: the kernel does both before anybody, a killer included, can come between. add_link()
// sees to that. A missing parent or master is Fault::absent; a link that does not carry our alias is Fault::bug.
base::Result<std::vector<Message>> encode_add(const state::Link& link, const LinkTable& links);
// Makes `link`, and removes it again if it could not be marked. A refusal of up, mtu or master is reported, and the
// link stays: the next pass tries again.
base::Status add_link(Socket& socket, const state::Link& link, const LinkTable& links);

// Turns mtu, master and up of an own link into the desired ones. By index: a link that was made anew meanwhile under
// the same name is not touched.
base::Result<Message> encode_set(const state::ObservedLink& own, const state::Link& desired, const LinkTable& links);
// By index, and only what carries our alias: Fault::bug for anything else.
base::Result<Message> encode_remove(const state::ObservedLink& own);

// From RTM_NEWLINK. A cut message is an error; a link of ours with settings we do not know says so in `opaque`.
base::Result<state::ObservedLink> decode_link(const Received& message);

// All links of the socket's namespace, by index, read until no change came between.
base::Result<std::vector<state::ObservedLink>> read_links(Socket& socket);
// The names and indices in them.
LinkTable table_of(const std::vector<state::ObservedLink>& links);

}  // namespace kernel::rtnl
