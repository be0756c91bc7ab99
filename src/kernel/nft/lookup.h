#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "kernel/netlink/socket.h"

// Whether the ruleset has something, anybody's, by its name: asked of the kernel directly, without listing anything.
// `socket` is one of Bus::netfilter. The ruleset may name them in families of its own.
namespace kernel::nft {

enum class Family : std::uint8_t { inet, ip, ip6 };

base::Result<bool> has_table(Socket& socket, Family family, std::string_view table);
base::Result<bool> has_chain(Socket& socket, Family family, std::string_view table, std::string_view chain);

// Whether such an error means that the kernel has no nftables at all.
bool is_missing(const base::Error& error);

}  // namespace kernel::nft
