// Connections and neighbours as this kernel tells of them.
#include "kernel/conntrack.h"

#include <algorithm>

#include "kernel/rtnl/neighbour.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

class Connections : public Sandbox {
 protected:
  // One packet is enough for a connection.
  static void send_to(const std::string& address) { run("bash -c 'echo > /dev/udp/" + address + "/8080'"); }
};

TEST_F(Connections, those_to_an_address_are_counted_by_who_answers) {
  run("ip route add 203.0.113.0/24 dev lo; ip -6 route add 2001:db8:f::/64 dev lo");
  run("ip addr add 10.244.1.7 dev lo; ip addr add fd00::7 dev lo nodad");
  run("nft add table inet t; nft 'add chain inet t out { type nat hook output priority -100; }'");
  run("nft add rule inet t out ip daddr 203.0.113.45 dnat ip to 10.244.1.7");
  run("nft add rule inet t out ip6 daddr 2001:db8:f::10 dnat ip6 to fd00::7");
  for (int i = 0; i < 3; ++i) send_to("203.0.113.45");
  send_to("203.0.113.46");
  send_to("2001:db8:f::10");
  const auto found = answerers_of({ip("203.0.113.45"), ip("203.0.113.47"), ip("2001:db8:f::10")});
  ASSERT_TRUE(found) << found.error().message();
  const std::map<net::Address, Answerers> expected = {{ip("203.0.113.45"), {{ip("10.244.1.7"), 3}}},
                                                      {ip("2001:db8:f::10"), {{ip("fd00::7"), 1}}}};
  EXPECT_EQ(*found, expected) << "of the others nobody has asked, or there is none";
}

TEST_F(Connections, one_that_nobody_translates_is_answered_by_where_it_went) {
  run("ip addr add 203.0.113.45 dev lo");
  run("nft add table inet t; nft 'add chain inet t in { type filter hook input priority 0; ct state new accept; }'");
  send_to("203.0.113.45");
  const auto found = answerers_of({ip("203.0.113.45")});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->at(ip("203.0.113.45")), (Answerers{{ip("203.0.113.45"), 1}}));
}

TEST_F(Connections, without_any_none_is_found) {
  const auto found = answerers_of({ip("203.0.113.45")});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(found->empty());
}

class Neighbours : public Sandbox {
 protected:
  std::vector<rtnl::Neighbour> read() {
    auto socket = Socket::open(Bus::route).value();
    const auto links = rtnl::read_link_table(socket).value();
    return rtnl::read_neighbours(socket, links).value();
  }
};

TEST_F(Neighbours, what_the_kernel_knows_of_them) {
  run("ip link add up0 type veth peer name up1; ip link set up0 up; ip link set up1 up");
  run("ip addr add 198.51.100.11/24 dev up0");
  run("ip neigh add 198.51.100.1 dev up0 lladdr 02:00:00:00:00:01 nud reachable");
  run("ip neigh add 198.51.100.2 dev up0 lladdr 02:00:00:00:00:02 nud stale");
  run("ip neigh add 2001:db8::3 dev up0 nud failed");
  const auto up0 = net::InterfaceName::parse("up0").value();
  const auto found = read();
  const auto has = [&](std::string_view address, rtnl::Answering answering) {
    return std::ranges::find(found, rtnl::Neighbour{up0, ip(address), answering}) != found.end();
  };
  EXPECT_TRUE(has("198.51.100.1", rtnl::Answering::yes));
  EXPECT_TRUE(has("198.51.100.2", rtnl::Answering::formerly));
  EXPECT_TRUE(has("2001:db8::3", rtnl::Answering::no));
}

}  // namespace
}  // namespace kernel
