// What we send is what the kernel holds is what we read, for every kind of route; and `ip` means the same by our text.
#include <cerrno>

#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using RouteCodec = RouteWorld;
using Lines = std::vector<std::string>;

const Lines kRoutesV4 = {
    "default via 10.0.0.1 dev eth0 table 7 proto 183",
    "default via 10.0.0.1 dev eth0 table 4294967295 proto 183 metric 5",
    "default via inet6 fd00::1 dev eth0 table 7 proto 183",
    "192.0.2.0/24 via 10.9.9.9 dev eth1 table 7 proto 183 onlink",
    "192.0.2.0/24 dev eth1 table 7 proto 183 scope link src 10.0.0.2",
    "192.0.2.0/24 dev eth1 table 7 proto 183",
    "192.0.2.1 tos 0x10 dev eth1 table 7 proto 183",
    "default via 10.0.0.1 dev eth0 table 7 proto 183 mtu lock 1400 advmss 1300 initcwnd 20 quickack 1",
    "blackhole 203.0.113.0/24 table 7 proto 183 metric 9",
    "unreachable default table 7 proto 183",
    "prohibit default table 7 proto 183",
    "throw default table 7 proto 183",
    "local 192.0.2.9 dev lo table 7 proto 183 scope host",
    "broadcast 192.0.2.255 dev eth0 table 7 proto 183 scope link",
    "multicast 224.1.0.0/16 dev eth0 table 7 proto 183",
    "default table 7 proto 183 nexthop via 10.0.0.1 dev eth0 weight 1 nexthop via 10.0.1.1 dev eth1 weight 256",
    "default table 7 proto 183 nexthop via inet6 fd00::1 dev eth0 weight 3 nexthop dev eth1 weight 1",
};

const Lines kRoutesV6 = {
    "default via fd00::1 dev eth0 table 7 proto 183 metric 1024",
    "2001:db8::/32 via fd00::1 dev eth0 table 4294967295 proto 183 metric 5",
    "2001:db8::1 via fe80::1 dev eth1 table 7 proto 183 metric 1024 pref high",
    "2001:db8::/32 via fd00:77::1 dev eth1 table 7 proto 183 metric 1024 onlink",
    "2001:db8::/32 dev eth1 table 7 proto 183 src fd00::2 metric 1024",
    "default via fd00::1 dev eth0 table 7 proto 183 metric 1024 mtu lock 1400 hoplimit 9",
    "blackhole 2001:db8::/32 table 7 proto 183 metric 1024",
    "unreachable default table 7 proto 183 metric 7",
    "prohibit default table 7 proto 183 metric 1024",
    "throw default table 7 proto 183 metric 1024",
    "local 2001:db8::9 dev lo table 7 proto 183 metric 1024",
    "default table 7 proto 183 metric 1024 nexthop via fd00::1 dev eth0 weight 2 nexthop via fd00:1::1 dev eth1 weight "
    "1",
};

std::uint32_t table_of(const std::string& line) {
  return line.find("4294967295") == line.npos ? 7 : 4294967295;
}

TEST_F(RouteCodec, every_route_is_added_read_found_there_and_removed) {
  for (const auto& [family, lines] : {std::pair(v4, kRoutesV4), std::pair(v6, kRoutesV6)}) {
    for (const std::string& line : lines) {
      const auto added = add(family, line);
      ASSERT_TRUE(added) << line << ": " << added.error().message();
      EXPECT_EQ(table(family, table_of(line)), Lines{line});
      EXPECT_EQ(add(family, line).error().errno_value(), EEXIST) << line;
      const auto removed = remove(family, line);
      EXPECT_TRUE(removed) << line << ": " << removed.error().message();
      EXPECT_EQ(table(family, table_of(line)), Lines{}) << line;
      EXPECT_EQ(remove(family, line).error().errno_value(), ESRCH) << line;
    }
  }
}

TEST_F(RouteCodec, ip_understands_our_text_as_we_do) {
  for (const auto& [family, lines] : {std::pair(v4, kRoutesV4), std::pair(v6, kRoutesV6)}) {
    const std::string ip = family == v4 ? "ip -4 route add " : "ip -6 route add ";
    for (const std::string& line : lines) {
      // For a route without gateway `ip` means scope link where nothing is said; our text says nothing for global.
      const bool global = line.find(" scope ") == line.npos && line.find(" nexthop ") == line.npos;
      run(ip + line + (family == v4 && global ? " scope global" : ""));
      EXPECT_EQ(table(family, table_of(line)), Lines{line});
      EXPECT_TRUE(remove(family, line)) << line;
    }
  }
}

TEST_F(RouteCodec, dump_is_filtered_by_table_and_protocol) {
  run("ip route add 192.0.2.0/24 dev eth0 table 7 proto 99");
  ASSERT_TRUE(add(v4, "192.0.2.0/25 dev eth0 table 7 proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/25 dev eth0 table 8 proto 183"));
  const auto read = [&](RouteFilter filter) {
    Lines out;
    const auto dump = dump_routes(socket(), filter, MissingTable::is_error, links(), [&](const DecodedRoute& route) {
      out.push_back(text(std::get<state::Route>(route)));
      return base::Status{};
    });
    EXPECT_TRUE(dump && dump->filtered);
    return out;
  };
  EXPECT_EQ(read({.family = v4, .table = 7}).size(), 2);
  EXPECT_EQ(read({.family = v4, .protocol = 183}).size(), 2);
  EXPECT_EQ(read({.family = v4, .table = 7, .protocol = 183}), Lines{"192.0.2.0/25 dev eth0 table 7 proto 183"});
  EXPECT_EQ(read({.family = v6, .table = 254, .protocol = 183}), Lines{});
}

TEST_F(RouteCodec, missing_table_is_empty_only_where_we_say_so) {
  for (const auto family : {v4, v6}) {
    const auto dump = [&](MissingTable missing) {
      return dump_routes(socket(), {.family = family, .table = 4242}, missing, links(),
                         [](const DecodedRoute&) { return base::Status{}; });
    };
    EXPECT_TRUE(dump(MissingTable::is_empty));
    ASSERT_FALSE(dump(MissingTable::is_error));
    EXPECT_EQ(dump(MissingTable::is_error).error().errno_value(), ENOENT);
  }
}

TEST_F(RouteCodec, routes_of_the_kernel_itself_are_understood) {
  for (const auto family : {v4, v6}) {
    for (const std::uint32_t number : {254U, 255U}) {
      for (const std::string& line : table(family, number)) {
        EXPECT_EQ(line.find('('), line.npos) << "opaque: " << line;
      }
    }
  }
  EXPECT_EQ(table(v4, 254), (Lines{"10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.2",
                                   "10.0.1.0/24 dev eth1 proto kernel scope link src 10.0.1.2"}));
}

TEST_F(RouteCodec, foreign_route_with_something_unknown_is_opaque) {
  run("ip route add 192.0.2.0/24 dev eth0 table 7 realm 3");
  run("ip route add 192.0.3.0/24 dev eth0 table 7 rto_min 10");
  EXPECT_EQ(table(v4, 7),
            (Lines{"192.0.2.0/24 (attribute 11) table 7 proto boot", "192.0.3.0/24 (metric 13) table 7 proto boot"}));
}

TEST_F(RouteCodec, opaque_route_is_removed_by_its_own_bytes) {
  run("ip route add 192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 realm 3 proto 183");
  run("ip route append 192.0.2.0/24 via 10.0.0.9 dev eth0 table 7 proto 183");
  std::optional<state::OpaqueRoute> opaque;
  ASSERT_TRUE(dump_routes(socket(), {.family = v4, .table = 7}, MissingTable::is_error, links(),
                          [&](const DecodedRoute& route) {
                            if (const auto* found = std::get_if<state::OpaqueRoute>(&route)) opaque = *found;
                            return base::Status{};
                          }));
  ASSERT_TRUE(opaque);
  ASSERT_TRUE(socket().transact(encode_remove(*opaque).value()));
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 via 10.0.0.9 dev eth0 table 7 proto 183"});
}

TEST_F(RouteCodec, route_over_a_link_that_went_is_unknown_not_wrong) {
  const LinkTable before = links();
  run("ip link add new type veth peer name wen; ip link set new up; ip route add 192.0.2.0/24 dev new table 7");
  std::vector<std::string> reasons;
  ASSERT_TRUE(
      dump_routes(socket(), {.family = v4, .table = 7}, MissingTable::is_error, before, [&](const DecodedRoute& route) {
        reasons.push_back(std::get<state::OpaqueRoute>(route).reason);
        return base::Status{};
      }));
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_TRUE(reasons.front().starts_with("device "));
}

}  // namespace
}  // namespace kernel::rtnl
