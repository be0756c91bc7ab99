#include "kernel/rtnl/link_table.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string>

#include <fmt/format.h>

namespace kernel::rtnl {

void LinkTable::add(std::uint32_t index, const net::InterfaceName& name) {
  names_[index] = name;
  indices_[name] = index;
}

std::optional<std::uint32_t> LinkTable::index_of(const net::InterfaceName& name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<net::InterfaceName> LinkTable::name_of(std::uint32_t index) const {
  const auto found = names_.find(index);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

base::Result<std::uint32_t> require_link(const LinkTable& links, const net::InterfaceName& name) {
  if (const auto index = links.index_of(name)) return *index;
  return base::fail(base::Fault::absent, fmt::format("dev {}: no such link", name.text()));
}

base::Status read_link_name(LinkTable& links, const Received& message) {
  if (message.type != RTM_NEWLINK) return {};
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<ifinfomsg>(rest));
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type != IFLA_IFNAME) continue;
    const std::string_view name = TRY(attribute.text());
    links.add(static_cast<std::uint32_t>(header.ifi_index), TRY(net::InterfaceName::parse(name)));
  }
  return {};
}

base::Result<LinkTable> read_link_table(Socket& socket) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    LinkTable links;
    const auto dump = TRY(socket.dump(Message(RTM_GETLINK, 0, ifinfomsg{}),
                                      [&](const Received& message) { return read_link_name(links, message); }));
    if (!dump.interrupted) return links;
  }
  return base::fail(base::Fault::unavailable, "links change faster than they can be read");
}

}  // namespace kernel::rtnl
