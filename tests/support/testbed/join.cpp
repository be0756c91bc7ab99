#include "testbed/join.h"

#include <string>

#include <fmt/format.h>

namespace testbed {
namespace {

// The address with another last part: 172.30.77.1 and 11 make 172.30.77.11.
lab::InterfaceAddress neighbour(const net::Address& address, int number, int length) {
  const std::string text = address.text();
  const std::string network = text.substr(0, text.find_last_of(".:") + 1);
  return lab::InterfaceAddress::of(fmt::format("{}{}/{}", network, number, length));
}

}  // namespace

base::Status join(lab::World& world, lab::Host& host, const Cluster& cluster, int number) {
  TRY(world.plug(host, "mgmt", world.here(), host.name(), cluster.bridge()));
  TRY(host.add_address("mgmt", neighbour(cluster.address(), number, 24)));
  return host.add_address("mgmt", neighbour(cluster.address6(), number, 64));
}

}  // namespace testbed
