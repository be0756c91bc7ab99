#include <string>

#include <fmt/format.h>

#include "tests/kernel/steered_scene.h"

namespace {

using namespace std::chrono_literals;
using dataplane::Mode;
using dataplane::Steering;

constexpr dataplane::Target kTarget{.priority = 1000, .table = lab::Scene::kTable};
constexpr const char* kVip4 = "203.0.113.10";
constexpr const char* kVip6 = "2001:db8:f::10";
constexpr const char* kClient4 = "198.18.7.9";
constexpr const char* kClient6 = "2001:db8:7::9";

class NftPackets : public SteeredScene {
 protected:
  Steering sources(Mode mode) {
    return {.sources = {{node().service[0], kTarget}, {node().service[1], kTarget}}, .mode = mode};
  }
  static Steering replies(bool prefer_main = true) {
    return {.replies = {{ip(kVip4), kTarget, prefer_main}, {ip(kVip6), kTarget, prefer_main}}};
  }

  // Requests to the node's Service address, which the pod holds itself: replies that left by the right uplink.
  int replies_by_eth1(net::Family family, int requests, std::chrono::milliseconds bound = 10s) {
    const auto tally = scene().send_requests(node(), lab::of_family(node().service, family), requests, bound);
    EXPECT_TRUE(tally) << tally.error().message();
    return tally->replies_out.eth1;
  }

  // Two VIPs that the node turns into one endpoint, laid out as kube-proxy does it with nftables.
  static void balance(const lab::SceneNode& node, const std::string& endpoint4, const std::string& endpoint6) {
    const auto table = [](const char* family, const std::string& vip, const std::string& endpoint) {
      return fmt::format(R"(
table {0} kube-proxy {{
  map service-ips {{ type {1} . inet_proto . inet_service : verdict; }}
  chain endpoint {{ meta l4proto udp dnat to {3}; }}
  chain service {{ numgen random mod 1 vmap {{ 0 : goto endpoint }}; }}
  chain services {{ {0} daddr . meta l4proto . th dport vmap @service-ips; }}
  chain nat-prerouting {{ type nat hook prerouting priority dstnat; jump services; }}
  chain nat-output {{ type nat hook output priority -100; jump services; }}
}}
add element {0} kube-proxy service-ips {{ {2} . udp . 8080 : goto service }}
)",
                         family, family == std::string_view("ip") ? "ipv4_addr" : "ipv6_addr", vip, endpoint);
    };
    nft(*node.host, table("ip", kVip4, endpoint4) + table("ip6", kVip6, endpoint6));
  }

  void route_vips_to(const std::string& node4, const std::string& node6) {
    run({"ip", "-n", "gateway-b", "route", "add", kVip4, "via", node4});
    run({"ip", "-n", "gateway-b", "-6", "route", "add", kVip6, "via", node6});
  }

  void serve(const lab::Host& host, const char* address4, const char* address6) {
    std::vector<base::Fd> sockets;
    sockets.push_back(lab::bind_udp(host, ip(address4), lab::kServicePort).value());
    sockets.push_back(lab::bind_udp(host, ip(address6), lab::kServicePort).value());
    responder_.emplace(lab::Responder::start(std::move(sockets)).value());
  }

  // The VIPs lead to the first node's pod, which answers there.
  void publish_pod() {
    balance(node(), "10.244.1.7:8080", "[fd00:10:244:1::7]:8080");
    route_vips_to("198.51.100.11", "2001:db8:b::11");
  }

  bool client_is_answered(int requests, std::chrono::milliseconds bound = 10s) {
    Flows v4(scene().client(), ip(kClient4), ip(kVip4), requests);
    Flows v6(scene().client(), ip(kClient6), ip(kVip6), requests);
    const bool first = v4.ask(bound);
    return v6.ask(bound) == first && first;
  }

 private:
  std::optional<lab::Responder> responder_;
};

TEST_F(NftPackets, forwarded_source_takes_the_same_uplink_by_rules_and_by_marks) {
  build();
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 5), 0);
  for (const Mode mode : {Mode::rules, Mode::marks}) {
    settle(node(), sources(mode));
    EXPECT_EQ(replies_by_eth1(net::Family::v4, 20), 20);
    EXPECT_EQ(replies_by_eth1(net::Family::v6, 20), 20);
  }
  settle(node(), {});
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 5), 0);
  EXPECT_EQ(replies_by_eth1(net::Family::v6, 5), 0);
  EXPECT_EQ(run({"nft", "list", "ruleset"}, node().host->network()), "");
}

TEST_F(NftPackets, G9_empty_table_falls_through_to_the_next_lookup_by_rules_and_by_marks) {
  build();
  Steering steering = sources(Mode::rules);
  for (auto& source : steering.sources) source.target.priority = 1001;
  steering.sources.push_back({node().service[0], {.priority = 1000, .table = 4711}});
  steering.sources.push_back({node().service[1], {.priority = 1000, .table = 4711}});
  for (const Mode mode : {Mode::rules, Mode::marks}) {
    steering.mode = mode;
    settle(node(), steering);
    EXPECT_EQ(replies_by_eth1(net::Family::v4, 5), 5);
    EXPECT_EQ(replies_by_eth1(net::Family::v6, 5), 5);
  }
}

TEST_F(NftPackets, reply_of_a_pod_behind_a_vip_goes_back_where_the_request_came_from) {
  build();
  publish_pod();
  EXPECT_FALSE(client_is_answered(5, 200ms));
  settle(node(), replies());
  EXPECT_TRUE(client_is_answered(20));
  settle(node(), replies(false));
  EXPECT_TRUE(client_is_answered(20));
}

TEST_F(NftPackets, reply_of_a_process_on_the_node_itself_is_steered_too) {
  build();
  serve(*node().host, "10.0.0.11", "fd00:a::11");
  balance(node(), "10.0.0.11:8080", "[fd00:a::11]:8080");
  route_vips_to("198.51.100.11", "2001:db8:b::11");
  EXPECT_FALSE(client_is_answered(5, 200ms));
  settle(node(), replies());
  EXPECT_TRUE(client_is_answered(20));
}

TEST_F(NftPackets, connection_that_the_pod_opens_itself_is_not_steered_by_a_reply) {
  build();
  publish_pod();
  settle(node(), replies());
  auto tap = lab::Tap::open(*node().host, "eth1").value();
  Flows flows(*node().pod, ip("10.244.1.7"), ip(kClient4), 5);
  EXPECT_FALSE(flows.ask(100ms));
  const auto seen = tap.take().value();
  EXPECT_EQ(std::ranges::count(seen, ip("10.244.1.7"), &lab::Tap::Packet::source), 0);
}

TEST_F(NftPackets, pod_of_another_node_as_client_of_the_vip_stays_inside) {
  build(2);
  publish_pod();
  balance(node(1), "10.244.1.7:8080", "[fd00:10:244:1::7]:8080");
  // The way between the nodes' pods, as a CNI lays it.
  run({"ip", "-n", "worker-1", "route", "add", "10.244.2.0/24", "via", "10.0.0.12"});
  run({"ip", "-n", "worker-2", "route", "add", "10.244.1.0/24", "via", "10.0.0.11"});
  run({"ip", "-n", "worker-1", "-6", "route", "add", "fd00:10:244:2::/64", "via", "fd00:a::12"});
  run({"ip", "-n", "worker-2", "-6", "route", "add", "fd00:10:244:1::/64", "via", "fd00:a::11"});
  Steering steering = replies(false);
  const auto inside_is_answered = [&](std::chrono::milliseconds bound) {
    for (const auto& each : scene().nodes()) settle(each, steering);
    Flows pod4(*node(1).pod, ip("10.244.2.7"), ip(kVip4), 5);
    Flows pod6(*node(1).pod, ip("fd00:10:244:2::7"), ip(kVip6), 5);
    const bool first = pod4.ask(bound);
    return pod6.ask(bound) == first && first;
  };
  // Without either guard the reply leaves the cluster by the steered uplink and is lost.
  EXPECT_FALSE(inside_is_answered(200ms));

  steering.facts.cluster_prefixes = {net::Prefix::parse("10.244.0.0/16").value(),
                                     net::Prefix::parse("fd00:10:244::/48").value()};
  EXPECT_TRUE(inside_is_answered(10s));
  EXPECT_TRUE(client_is_answered(5));

  steering = replies(true);
  EXPECT_TRUE(inside_is_answered(10s));
  EXPECT_TRUE(client_is_answered(5));

  Flows self(*node(0).host, ip("10.0.0.11"), ip(kVip4), 5);
  EXPECT_TRUE(self.ask());
  Flows other(*node(1).host, ip("10.0.0.12"), ip(kVip4), 5);
  EXPECT_TRUE(other.ask());
}

TEST_F(NftPackets, source_with_the_lower_priority_number_beats_a_reply_in_both_back_ends) {
  build();
  publish_pod();
  run({"ip", "-n", "worker-1", "route", "add", "default", "via", "10.0.0.1", "table", "200"});
  for (const Mode mode : {Mode::rules, Mode::marks}) {
    Steering steering = replies();
    steering.mode = mode;
    steering.sources = {{ip("10.244.1.7"), {.priority = 2000, .table = 200}}};
    settle(node(), steering);
    Flows later(scene().client(), ip(kClient4), ip(kVip4), 5);
    EXPECT_TRUE(later.ask()) << "the reply comes first";

    steering.sources[0].target.priority = 500;
    settle(node(), steering);
    Flows earlier(scene().client(), ip(kClient4), ip(kVip4), 5);
    EXPECT_FALSE(earlier.ask(200ms)) << "the source comes first, and leads to the wrong uplink";
  }
}

TEST_F(NftPackets, H2_mark_bits_of_others_survive) {
  build();
  settle(node(), sources(Mode::marks));
  nft(*node().host, R"(
table inet other {
  counter kept { }
  chain pre { type filter hook prerouting priority raw; meta mark set 0x8004c002; }
  chain post { type filter hook postrouting priority filter; oifname "eth1" meta mark 0x8004c102 counter name kept; }
}
)");
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 20), 20);
  const std::string counter = run({"nft", "list", "counter", "inet", "other", "kept"}, node().host->network());
  EXPECT_NE(counter.find("packets 20 "), std::string::npos) << counter;
}

TEST_F(NftPackets, strict_reverse_path_keeps_automatic_on_rules_and_drops_what_marks_steer) {
  build();
  ASSERT_TRUE(node().host->set_sysctl("net/ipv4/conf/eth1/rp_filter", "1"));
  Steering steering = sources(Mode::automatic);
  steering.facts.uplinks = {
      {.table = kTarget.table, .device = net::InterfaceName::parse("eth1").value(), .rp_filter = 1}};
  steering.present.backend = dataplane::Backend::marks;
  for (int i = 0; i < 300; ++i) {
    steering.sources.push_back({ip(fmt::format("10.97.{}.{}", i / 250, i % 250)), kTarget});
  }
  settle(node(), steering);
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 5), 5);
  EXPECT_EQ(replies_by_eth1(net::Family::v6, 5), 5);

  steering.mode = Mode::marks;
  settle(node(), steering);
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 5, 200ms), 0);
  EXPECT_EQ(replies_by_eth1(net::Family::v6, 5), 5) << "there is no reverse path filter for IPv6";

  ASSERT_TRUE(node().host->set_sysctl("net/ipv4/conf/eth1/rp_filter", "2"));
  EXPECT_EQ(replies_by_eth1(net::Family::v4, 5), 5);
}

}  // namespace
