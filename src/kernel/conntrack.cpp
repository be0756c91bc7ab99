#include "kernel/conntrack.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <optional>

#include "kernel/netlink/family.h"
#include "kernel/netlink/message.h"
#include "kernel/netlink/socket.h"

namespace kernel {
namespace {

struct Ends {
  std::optional<net::Address> source;
  std::optional<net::Address> destination;
};

// The attribute of that type; an error where there is none.
base::Result<Attribute> find(std::span<const std::byte> rest, std::uint16_t type) {
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == type) return attribute;
  }
  return base::fail(base::Fault::kernel, "a connection without its addresses");
}

// Of CTA_TUPLE_ORIG or CTA_TUPLE_REPLY, whose CTA_TUPLE_IP has source and destination.
base::Result<Ends> decode_ends(std::span<const std::byte> connection, std::uint16_t direction, net::Family family) {
  const Attribute tuple = TRY(find(connection, direction));
  std::span<const std::byte> rest = TRY(find(tuple.value, CTA_TUPLE_IP)).value;
  Ends out;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == (family == net::Family::v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC)) {
      out.source = TRY(attribute.address(family));
    }
    if (attribute.type == (family == net::Family::v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST)) {
      out.destination = TRY(attribute.address(family));
    }
  }
  if (out.source && out.destination) return out;
  return base::fail(base::Fault::kernel, "a connection without its addresses");
}

Message list_connections(net::Family family) {
  return Message(NFNL_SUBSYS_CTNETLINK << 8U | IPCTNL_MSG_CT_GET, 0,
                 nfgenmsg{.nfgen_family = wire_family(family), .version = NFNETLINK_V0, .res_id = 0});
}

}  // namespace

base::Result<Connection> decode_connection(const Received& message) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<nfgenmsg>(rest));
  const net::Family family = TRY(family_of(header.nfgen_family));
  const Ends original = TRY(decode_ends(rest, CTA_TUPLE_ORIG, family));
  const Ends reply = TRY(decode_ends(rest, CTA_TUPLE_REPLY, family));
  return Connection{.client = *original.source, .to = *original.destination, .answerer = *reply.source};
}

base::Result<std::map<net::Address, Answerers>> answerers_of(const std::set<net::Address>& destinations) {
  std::map<net::Address, Answerers> out;
  std::set<net::Family> families;
  for (const net::Address& address : destinations) families.insert(address.family());
  auto socket = TRY(Socket::open(Bus::netfilter));
  for (const net::Family family : families) {
    TRY(socket.dump(list_connections(family), [&](const Received& message) -> base::Status {
      // One that is not understood is one less to tell by, and no reason to tell nothing.
      const auto connection = decode_connection(message);
      if (connection && destinations.contains(connection->to)) ++out[connection->to][connection->answerer];
      return {};
    }));
  }
  return out;
}

}  // namespace kernel
