#include "lab/kubernetes/join.h"

#include <string>

#include <fmt/format.h>

namespace lab {
namespace {

// The address with another last part: 172.30.77.1 and 11 make 172.30.77.11.
InterfaceAddress neighbour(const net::Address& address, int number, int length) {
  const std::string text = address.text();
  const std::string network = text.substr(0, text.find_last_of(".:") + 1);
  return InterfaceAddress::of(fmt::format("{}{}/{}", network, number, length));
}

}  // namespace

base::Result<AddressPair> join(World& world, Host& host, const ControlPlane& plane, int number) {
  TRY(world.plug(host, "mgmt", world.here(), host.name(), plane.bridge()));
  const InterfaceAddress v4 = neighbour(plane.address(), number, 24);
  const InterfaceAddress v6 = neighbour(plane.address6(), number, 64);
  TRY(host.add_address("mgmt", v4));
  TRY(host.add_address("mgmt", v6));
  return AddressPair{v4.address, v6.address};
}

}  // namespace lab
