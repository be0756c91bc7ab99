#pragma once

#include <cstdint>
#include <sys/socket.h>

#include <fmt/format.h>

#include "base/result.h"
#include "net/address.h"

namespace kernel {

constexpr std::uint8_t wire_family(net::Family family) {
  return family == net::Family::v4 ? AF_INET : AF_INET6;
}

inline base::Result<net::Family> family_of(std::uint8_t wire) {
  if (wire == AF_INET) return net::Family::v4;
  if (wire == AF_INET6) return net::Family::v6;
  return base::fail(base::Fault::kernel, fmt::format("address family {} in a netlink message", wire));
}

}  // namespace kernel
