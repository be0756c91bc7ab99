#include "kernel/rtnl/neighbour.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <optional>

#include "kernel/netlink/family.h"

namespace kernel::rtnl {
namespace {

std::optional<Answering> answering_of(std::uint16_t state) {
  if ((state & (NUD_FAILED | NUD_INCOMPLETE)) != 0) return Answering::no;
  if ((state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)) != 0) return Answering::yes;
  if ((state & (NUD_STALE | NUD_DELAY | NUD_PROBE)) != 0) return Answering::formerly;
  return std::nullopt;
}

}  // namespace

base::Result<std::optional<Neighbour>> decode_neighbour(const Received& message, const LinkTable& links) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<ndmsg>(rest));
  const auto family = family_of(header.ndm_family);
  const auto answering = answering_of(header.ndm_state);
  const auto dev = links.name_of(static_cast<std::uint32_t>(header.ndm_ifindex));
  if (!family || !answering || !dev) return std::nullopt;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type != NDA_DST) continue;
    return Neighbour{.dev = *dev, .address = TRY(attribute.address(*family)), .answering = *answering};
  }
  return std::nullopt;
}

base::Result<std::vector<Neighbour>> read_neighbours(Socket& socket, const LinkTable& links) {
  std::vector<Neighbour> out;
  for (const net::Family family : {net::Family::v4, net::Family::v6}) {
    ndmsg header{};
    header.ndm_family = wire_family(family);
    TRY(socket.dump(Message(RTM_GETNEIGH, 0, header), [&](const Received& message) -> base::Status {
      if (const auto neighbour = decode_neighbour(message, links); neighbour && *neighbour) out.push_back(**neighbour);
      return {};
    }));
  }
  return out;
}

}  // namespace kernel::rtnl
