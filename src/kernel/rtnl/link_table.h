#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/socket.h"
#include "net/interface_name.h"

namespace kernel::rtnl {

// Which link has which index. The kernel's messages name devices by index, our values by name: a name follows what
// people mean when a link is deleted and made again. As of one dump: any link event makes it old.
class LinkTable {
 public:
  void add(std::uint32_t index, const net::InterfaceName& name);

  std::optional<std::uint32_t> index_of(const net::InterfaceName& name) const;
  std::optional<net::InterfaceName> name_of(std::uint32_t index) const;

 private:
  std::unordered_map<std::uint32_t, net::InterfaceName> names_;
  std::unordered_map<net::InterfaceName, std::uint32_t> indices_;
};

// The index a request must carry for a device; Fault::absent without such a link, for it may still come.
base::Result<std::uint32_t> require_link(const LinkTable& links, const net::InterfaceName& name);

// Adds what one RTM_NEWLINK says.
base::Status read_link_name(LinkTable& links, const Received& message);

// All links of the socket's namespace, read until no change came between.
base::Result<LinkTable> read_link_table(Socket& socket);

}  // namespace kernel::rtnl
