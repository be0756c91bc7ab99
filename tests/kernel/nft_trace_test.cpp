// Real packets, watched on their way through a node.
#include <chrono>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kernel/nft/trace.h"
#include "kernel/rtnl/link_table.h"
#include "tests/kernel/steered_scene.h"

namespace {

using namespace std::chrono_literals;
using kernel::nft::Trace;
using kernel::nft::TracedPacket;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr dataplane::Target kTracedTarget{.priority = 1000, .table = lab::Scene::kTable};
constexpr std::uint8_t kUdp = 17;

class NftTrace : public SteeredScene {
 protected:
  // Replies of the node's pod to the client.
  path::Packet replies(net::Family family) {
    return {.from = lab::of_family(node().service, family),
            .to = lab::Scene::client_address(family),
            .ip_protocol = kUdp,
            .sport = lab::kServicePort};
  }
  void request(net::Family family, int count, std::chrono::milliseconds bound = 10s) {
    const auto tally = scene().send_requests(node(), lab::of_family(node().service, family), count, bound);
    EXPECT_TRUE(tally) << tally.error().message();
  }
  // What is seen of `count` packets while requests for more than that are answered.
  Trace::Seen watch(const path::Packet& flow, std::size_t count, std::chrono::milliseconds patience = 10s) {
    return watch(flow, count, patience, [&] { request(flow.to.family(), static_cast<int>(count) + 2, 500ms); });
  }
  Trace::Seen watch(const path::Packet& flow, std::size_t count, std::chrono::milliseconds patience,
                    const std::function<void()>& send) {
    Trace::Seen out;
    const auto done = node().host->within([&]() -> base::Status {
      auto trace = TRY(Trace::open(flow));
      EXPECT_THAT(tables(), HasSubstr("table inet " + trace.table() + "\n"));
      send();
      out = TRY(trace.watch(count, base::SteadyClock().now() + patience));
      return {};
    });
    EXPECT_TRUE(done) << done.error().message();
    EXPECT_THAT(tables(), Not(HasSubstr("trace"))) << "it goes with who made it";
    return out;
  }
  std::string tables() { return run({"nft", "list", "tables"}, node().host->network()); }
  std::uint32_t link(const char* device) {
    std::uint32_t out = 0;
    const auto done = node().host->within([&]() -> base::Status {
      auto socket = TRY(kernel::Socket::open(kernel::Bus::route));
      const auto links = TRY(kernel::rtnl::read_link_table(socket));
      out = links.index_of(net::InterfaceName::parse(device).value()).value_or(0);
      return {};
    });
    EXPECT_TRUE(done) << done.error().message();
    return out;
  }
};

TEST_F(NftTrace, a_packet_is_followed_from_chain_to_chain_to_the_device_it_leaves_by) {
  build();
  settle(node(), {.sources = {{node().service[0], kTracedTarget}, {node().service[1], kTracedTarget}},
                  .mode = dataplane::Mode::marks});
  for (const net::Family family : {net::Family::v4, net::Family::v6}) {
    const path::Packet flow = replies(family);
    const auto seen = watch(flow, 3);
    ASSERT_EQ(seen.packets.size(), 3U);
    EXPECT_FALSE(seen.lost);
    for (const TracedPacket& packet : seen.packets) {
      EXPECT_EQ(packet.fate, TracedPacket::Fate::left);
      EXPECT_EQ(packet.oif, link("eth1"));
      EXPECT_NE(packet.iif, 0U);
      EXPECT_FALSE(packet.sent_here);
      EXPECT_EQ(packet.mark, 0x100U);
      EXPECT_EQ(packet.entered.from, flow.from);
      EXPECT_EQ(packet.entered.to, flow.to);
      EXPECT_EQ(packet.entered.sport, lab::kServicePort);
      EXPECT_NE(packet.entered.dport, 0);
      ASSERT_FALSE(packet.steps.empty());
      EXPECT_EQ(packet.steps.front().table, "inet iprule");
      EXPECT_EQ(packet.steps.front().chain, "pre");
      EXPECT_EQ(packet.steps.front().verdict, "jump reply") << "it answers a request";
      EXPECT_THAT(packet.steps, Contains(Field(&TracedPacket::Step::verdict, testing::StartsWith("goto "))));
    }
  }
}

TEST_F(NftTrace, only_the_flow_is_looked_at) {
  build();
  path::Packet flow = replies(net::Family::v4);
  EXPECT_EQ(watch(flow, 1).packets.size(), 1U);
  flow.sport = 9;
  EXPECT_THAT(watch(flow, 1, 0ms).packets, IsEmpty());
  flow.sport = 0;
  flow.ip_protocol = 6;
  EXPECT_THAT(watch(flow, 1, 0ms).packets, IsEmpty());
  flow.ip_protocol = kUdp;
  flow.iif = net::InterfaceName::parse("eth0").value();
  EXPECT_THAT(watch(flow, 1, 0ms).packets, IsEmpty()) << "it comes in by the pod's link";
  flow.iif = {};
  flow.from = flow.to.masked(0);
  EXPECT_EQ(watch(flow, 1).packets.size(), 1U) << "from anybody";
}

TEST_F(NftTrace, a_chain_that_drops_it_is_named) {
  build();
  nft(*node().host, "table inet wall { chain forward { type filter hook forward priority 0; udp sport 8080 drop; }; }");
  const auto seen = watch(replies(net::Family::v4), 1);
  ASSERT_EQ(seen.packets.size(), 1U);
  EXPECT_EQ(seen.packets[0].fate, TracedPacket::Fate::dropped);
  EXPECT_EQ(seen.packets[0].steps.back().table, "inet wall");
  EXPECT_EQ(seen.packets[0].steps.back().chain, "forward");
  EXPECT_EQ(seen.packets[0].steps.back().verdict, "drop");
}

TEST_F(NftTrace, a_packet_without_a_route_is_not_heard_of_again) {
  build();
  const net::Address nowhere = ip("192.0.2.77");
  run({"ip", "route", "add", "blackhole", "192.0.2.77/32"}, node().host->network());
  Flows flows(*node().pod, node().pod_address[0], nowhere, 1);
  const path::Packet flow{.from = node().pod_address[0], .to = nowhere, .ip_protocol = kUdp};
  const auto seen = watch(flow, 1, 10s, [&] { flows.send(); });
  ASSERT_EQ(seen.packets.size(), 1U);
  EXPECT_EQ(seen.packets[0].fate, TracedPacket::Fate::unknown);
}

}  // namespace
