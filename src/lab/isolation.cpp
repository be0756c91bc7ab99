#include "lab/isolation.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "base/fd.h"

namespace lab {
namespace {

ifreq request_for(const char* link) {
  ifreq request{};
  std::strncpy(request.ifr_name, link, IFNAMSIZ - 1);
  return request;
}

base::Result<ifreq> read_flags(const base::Fd& socket, const char* link) {
  ifreq request = request_for(link);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0)
    return base::fail_errno(fmt::format("read flags of {}", link), errno);
  return request;
}

base::Result<base::Fd> any_socket() {
  base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return base::fail_errno("socket", errno);
  return socket;
}

}  // namespace

base::Status raise_loopback() {
  const base::Fd socket = TRY(any_socket());
  ifreq request = TRY(read_flags(socket, "lo"));
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) return base::fail_errno("set lo up", errno);
  return {};
}

base::Status require_only_loopback() {
  const base::Fd socket = TRY(any_socket());
  const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> links(::if_nameindex(), &if_freenameindex);
  if (!links) return base::fail_errno("list links", errno);
  for (const struct if_nameindex* link = links.get(); link->if_index != 0; ++link) {
    const ifreq request = TRY(read_flags(socket, link->if_name));
    if ((request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_LOOPBACK) == 0)
      return base::fail(base::Fault::denied,
                        fmt::format("link {} is up: packets could leave this namespace", link->if_name));
  }
  return {};
}

}  // namespace lab
