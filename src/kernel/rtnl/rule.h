#pragma once

#include <cstdint>
#include <variant>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "state/net_state.h"
#include "state/rule.h"

namespace kernel::rtnl {

// Add and remove share one encoder, so what is removed is what was added, attribute by attribute.
//
// A delete with too few attributes takes the `local` rule and is answered with success. So no message leaves here that
// lacks family, table (or another action), priority or protocol: Fault::bug, in every build.
base::Result<Message> encode_add(const state::Rule& rule, bool exclusive);
base::Result<Message> encode_remove(const state::Rule& rule);
// By the wire form it was read in: every attribute, also those we do not know.
base::Result<Message> encode_remove(const state::OpaqueRule& rule);
// For a rule without protocol that was handed over to us. The kernel takes the first of that priority that fits, so the
// caller has looked that this is the one.
base::Result<Message> encode_remove_unsigned(const state::Rule& rule);

Message encode_dump(net::Family family);

// From RTM_NEWRULE or RTM_DELRULE. A rule with an attribute, flag or action we do not know is opaque; a message that is
// cut or whose lengths do not add up is an error.
base::Result<std::variant<state::Rule, state::OpaqueRule>> decode_rule(const Received& message);

}  // namespace kernel::rtnl
