#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "kernel/facts.h"
#include "kernel/probe.h"
#include "testbed/machine.h"
#include "tests/kernel/refuse_calls.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

class NodeFacts : public Sandbox {
 protected:
  state::NodeFacts read(const std::set<std::uint32_t>& tables = {}) {
    auto facts = read_facts(socket_, tables, {});
    EXPECT_TRUE(facts) << facts.error().message();
    return facts.value_or(state::NodeFacts());
  }

  Socket socket_ = Socket::open(Bus::route).value();
};

TEST_F(NodeFacts, an_empty_namespace_has_no_service_proxy_and_its_local_rule_at_0) {
  const auto facts = read();
  EXPECT_EQ(facts.service_proxy, state::ServiceProxy::none);
  EXPECT_EQ(facts.local_rule_priority, 0U);
  EXPECT_EQ(facts.nftables, true);
  EXPECT_NE(facts.kernel, "");
  EXPECT_TRUE(facts.own.empty());
}

TEST_F(NodeFacts, the_service_proxy_is_known_by_what_it_leaves) {
  run("nft add table ip kube-proxy");
  EXPECT_EQ(read().service_proxy, state::ServiceProxy::nftables);
  run("nft delete table ip kube-proxy; nft add table ip nat; nft add chain ip nat KUBE-SERVICES");
  EXPECT_EQ(read().service_proxy, state::ServiceProxy::iptables);
}

TEST_F(NodeFacts, the_service_proxy_in_ipvs_mode_is_known_by_its_link) {
  run("ip link add kube-ipvs0 type bridge");  // A dummy, in truth; not every kernel has those.
  EXPECT_EQ(read().service_proxy, state::ServiceProxy::ipvs);
}

TEST_F(NodeFacts, F9_what_the_kernel_can_is_found_by_trying_and_nothing_is_left_of_it) {
  const auto everything = [] { return run("ip rule; ip -6 rule; ip nexthop; ip addr; nft list ruleset"); };
  const std::string before = everything();
  const bool inet = testbed::machine_has("nftables-inet");
  const state::Capabilities all{
      .rule_protocol = true, .nexthop_objects = true, .address_protocol = true, .nft_maps = inet, .ct_original = inet};
  EXPECT_EQ(probe(socket_, 183), all) << state::text(probe(socket_, 183));
  EXPECT_EQ(everything(), before);
  // As a probe leaves it that is killed in the middle.
  run("ip rule add from 240.0.0.0 iif iprule-probe nop priority 4294967295 protocol 183");
  EXPECT_EQ(probe(socket_, 183), all);
  EXPECT_EQ(everything(), before);
}

TEST_F(NodeFacts, F9_what_may_not_be_tried_is_unknown) {
  std::thread([this] {  // Capabilities belong to the thread.
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    ASSERT_EQ(::syscall(SYS_capset, &header, none.data()), 0);
    const auto found = probe(socket_, 183);
    EXPECT_EQ(found.rule_protocol, std::nullopt);
    EXPECT_EQ(found.nft_maps, std::nullopt);
    EXPECT_EQ(found.address_protocol, true);
  })
      .join();
}

TEST_F(NodeFacts, F9_what_could_not_be_tried_for_want_of_memory_is_unknown) {
  std::thread([this] {
    ASSERT_TRUE(refuse_calls(SYS_sendto, ENOMEM));
    EXPECT_EQ(probe(socket_, 183), state::Capabilities()) << "nobody may conclude that the kernel lacks it";
  }).join();
}

TEST_F(NodeFacts, a_moved_local_rule_is_seen) {
  run("ip rule add lookup local priority 100; ip rule del priority 0");
  EXPECT_EQ(read().local_rule_priority, 100U);
}

TEST_F(NodeFacts, gateways_are_those_of_the_default_routes) {
  EXPECT_TRUE(read().gateways.empty());
  run("ip link add up0 type veth peer name up1; ip link set up0 up; ip link set up1 up");
  run("ip addr add 198.51.100.11/24 dev up0; ip route add default via 198.51.100.1");
  run("ip addr add fd00::11/64 dev up0 nodad; ip -6 route add default via fd00::1");
  EXPECT_EQ(read().gateways, (std::set{*net::Address::parse("198.51.100.1"), *net::Address::parse("fd00::1")}));
}

TEST_F(NodeFacts, the_reverse_path_filter_of_the_devices_of_a_table_is_the_one_in_force) {
  run("ip link add up0 type veth peer name up1; ip link set up0 up; ip link set up1 up");
  run("ip addr add 198.51.100.11/24 dev up0; ip route add default via 198.51.100.1 dev up0 table 100");
  run("sysctl -qw net.ipv4.conf.up0.rp_filter=0 net.ipv4.conf.all.rp_filter=1");
  const auto facts = read({100, 200});
  const auto up0 = net::InterfaceName::parse("up0").value();
  EXPECT_EQ(facts.reverse_path_filter, (std::map<net::InterfaceName, int>{{up0, 1}}));
  ASSERT_EQ(facts.tables.size(), 4U);
  EXPECT_EQ(facts.tables[0].devices, std::set{up0});
  EXPECT_EQ(facts.tables[2].routes, 0U);
  EXPECT_TRUE(facts.own.contains(net::Address::parse("198.51.100.11").value()));
}

}  // namespace
}  // namespace kernel
