#pragma once

#include <algorithm>
#include <chrono>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "kernel/netlink/endpoint.h"
#include "kernel/netlink/socket.h"
#include "kernel/rtnl/route.h"
#include "testbed/eventually.h"
#include "tests/kernel/sandbox.h"

namespace kernel::rtnl {

// A namespace with two links, both with carrier: eth0 has 10.0.0.2/24 and fd00::2/64, eth1 10.0.1.2/24 and
// fd00:1::2/64. No link-local addresses: they would turn valid by themselves, in the middle of a test.
class RouteWorld : public Sandbox {
 protected:
  static constexpr auto v4 = net::Family::v4;
  static constexpr auto v6 = net::Family::v6;

  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    run(R"(ip -batch - <<END
link add eth0 type veth peer name far0
link add eth1 type veth peer name far1
link set dev far0 addrgenmode none up
link set dev far1 addrgenmode none up
link set dev eth0 addrgenmode none up
link set dev eth1 addrgenmode none up
addr add 10.0.0.2/24 dev eth0
addr add 10.0.1.2/24 dev eth1
addr add fd00::2/64 dev eth0 nodad
addr add fd00:1::2/64 dev eth1 nodad
END
)");  // One process, because under User-mode Linux each costs half a second.
    ASSERT_TRUE(testbed::eventually("the links are up", std::chrono::seconds(30), [&] { return are_links_up(); }));
  }

  // The namespace of this test, not of the process: opened late.
  Socket& socket() {
    if (!socket_) socket_.emplace(Socket::open(Bus::route).value());
    return *socket_;
  }
  LinkTable links() { return read_link_table(socket()).value(); }

  static state::Route route_of(net::Family family, std::string_view text) {
    const auto route = state::parse_route(family, text);
    EXPECT_TRUE(route) << text;
    EXPECT_TRUE(validate(*route)) << text;
    return *route;
  }

  base::Status add(net::Family family, std::string_view text) {
    return socket().transact(encode_add(route_of(family, text), links()).value());
  }
  base::Status replace(net::Family family, std::string_view text) {
    return socket().transact(encode_replace(route_of(family, text), links()).value());
  }
  base::Status remove(net::Family family, std::string_view text) {
    return socket().transact(encode_remove(route_of(family, text), links()).value());
  }

  // The texts of all routes of a table, opaque ones included, in order.
  std::vector<std::string> table(net::Family family, std::uint32_t number) {
    std::vector<std::string> out;
    const auto dump = dump_routes(socket(), {.family = family, .table = number}, MissingTable::is_empty, links(),
                                  [&](const DecodedRoute& route) {
                                    out.push_back(std::visit([](const auto& one) { return text(one); }, route));
                                    return base::Status{};
                                  });
    EXPECT_TRUE(dump) << dump.error().message();
    std::ranges::sort(out);
    return out;
  }

 private:
  // The kernel looks at carriers in its own time, and then adds these routes.
  bool are_links_up() {
    const auto local = table(v6, RT_TABLE_LOCAL);
    const auto count = [&](const char* part) {
      return std::ranges::count_if(local, [&](const std::string& route) { return route.contains(part); });
    };
    return count("ff00::/8") == 4 && count("fd00:") == 2;
  }

  std::optional<Socket> socket_;
};

// Follows multicast groups from its construction on.
class Listener {
 public:
  explicit Listener(std::initializer_list<int> groups) : endpoint_(Endpoint::open(Bus::route).value()) {
    for (const int group : groups) EXPECT_TRUE(endpoint_.set_option(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group));
  }

  // How many events of a type have come; the kernel queues them before it answers the request that caused them.
  int count(std::uint16_t type) { return static_cast<int>(std::ranges::count(types(), type)); }

  // Those of all that have come, in order.
  const std::vector<std::uint16_t>& types() {
    while (const auto datagram = endpoint_.receive(std::nullopt).value()) {
      std::span<const std::byte> rest = *datagram;
      while (!rest.empty()) seen_.push_back(next_message(rest).value().type);
    }
    return seen_;
  }

 private:
  Endpoint endpoint_;
  std::vector<std::uint16_t> seen_;
};

}  // namespace kernel::rtnl
