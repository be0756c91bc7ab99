#pragma once

#include <cstdint>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"

// What all messages of nftables begin with.
namespace kernel::nft {

// Every kind of object has the name of its table in its first attribute.
inline constexpr std::uint16_t kTableAttribute = 1;

// The number by which netlink knows NFT_MSG_NEWTABLE and its like.
std::uint16_t message_type(std::uint16_t kind);

// A message about tables of one family (NFPROTO_INET), without attributes.
Message message_of(std::uint16_t kind, std::uint16_t flags, std::uint8_t family);

// Whether an object that the kernel tells of is our table or something in it; an error where it has no table.
base::Result<bool> names_our_table(const Received& message);

}  // namespace kernel::nft
