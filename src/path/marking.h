#pragma once

#include <cstdint>
#include <optional>

#include "net/address.h"
#include "path/packet.h"
#include "state/nft_table.h"

namespace path {

// The mark that a packet has when its route is chosen, after our nft table has seen it: what it bore before, and in our
// window the class of its connection's VIP, if it is a reply of one to `reply_of`, or of its source.
std::uint32_t marked(const state::NftTable& table, const Packet& packet, const std::optional<net::Address>& reply_of);

}  // namespace path
