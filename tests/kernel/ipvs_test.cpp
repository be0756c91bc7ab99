// What steers a reply where kube-proxy balances by IPVS: its addresses on a dummy link, its virtual servers, and
// requests that come in by the second uplink. Only for a kernel that has IPVS, which is User-mode Linux here; that one
// has no nftables for both families, so what Reply would do there is said in the words of the old iptables.
#include <arpa/inet.h>
#include <cstring>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/facts.h"
#include "tests/kernel/steered_scene.h"

namespace {

using dataplane::Mode;
using dataplane::Steering;

constexpr dataplane::Target kTarget{.priority = 1000, .table = lab::Scene::kTable};
constexpr auto* kNode = "10.0.0.11";

in_addr_t wire(const net::Address& address) {
  in_addr_t out = 0;
  std::memcpy(&out, address.bytes().data(), sizeof(out));
  return out;
}

class Ipvs : public SteeredScene {
 protected:
  void SetUp() override {
    build();
    vip_ = node().vip[0];
    cluster_ip_ = node().service[0];
    ASSERT_TRUE(node().host->set_sysctl("net/ipv4/vs/conntrack", "1"));  // As kube-proxy does.
    shell(fmt::format(
        "ip link add kube-ipvs0 type dummy; ip addr add {}/32 dev kube-ipvs0; ip addr add {}/32 dev kube-ipvs0",
        vip_.text(), cluster_ip_.text()));
    responder_.emplace(lab::Responder::start([&] {
                         std::vector<base::Fd> sockets;
                         sockets.push_back(lab::bind_udp(*node().host, ip(kNode), lab::kServicePort).value());
                         return sockets;
                       }())
                           .value());
  }

  void shell(const std::string& line) { run({"sh", "-ec", line}, node().host->network()); }

  // A virtual server for the VIP, with this one behind it.
  void balance_to(const net::Address& endpoint) {
    const auto done = node().host->within([&]() -> base::Status {
      const base::Fd socket(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
      struct {
        ip_vs_service_user service{};
        ip_vs_dest_user server{};
      } request;
      request.service.protocol = IPPROTO_UDP;
      request.service.addr = wire(vip_);
      request.service.port = htons(lab::kServicePort);
      request.service.netmask = 0xffffffff;
      std::strcpy(request.service.sched_name, "rr");
      request.server.addr = wire(endpoint);
      request.server.port = htons(lab::kServicePort);
      request.server.conn_flags = IP_VS_CONN_F_MASQ;
      request.server.weight = 1;
      (void)::setsockopt(socket.get(), IPPROTO_IP, IP_VS_SO_SET_DEL, &request.service, sizeof(request.service));
      if (::setsockopt(socket.get(), IPPROTO_IP, IP_VS_SO_SET_ADD, &request.service, sizeof(request.service)) != 0)
        return base::fail_errno("add a virtual server", errno);
      if (::setsockopt(socket.get(), IPPROTO_IP, IP_VS_SO_SET_ADDDEST, &request, sizeof(request)) != 0)
        return base::fail_errno("add a server", errno);
      return {};
    });
    ASSERT_TRUE(done) << done.error().message();
  }

  // "B": answered, by the uplink the request came from. "A": the reply left by the other one.
  std::string uplink() {
    constexpr int kRequests = 3;
    const auto tally = scene().send_requests(node(), vip_, kRequests);
    if (!tally) return tally.error().message();
    if (tally->replies_out == lab::UplinkCount{.eth0 = 0, .eth1 = kRequests} && tally->answered == kRequests)
      return "B";
    if (tally->replies_out == lab::UplinkCount{.eth0 = kRequests, .eth1 = 0} && tally->answered == 0) return "A";
    return fmt::format("{} out by eth0, {} by eth1, {} answered", tally->replies_out.eth0, tally->replies_out.eth1,
                       tally->answered);
  }

  void steer_from(const net::Address& source) {
    Steering steering{.sources = {{source, kTarget}}, .mode = Mode::rules};
    steering.facts.local = {vip_, cluster_ip_, ip(kNode)};
    settle(node(), steering);
  }

  // What chain `reply` does, called from these.
  void mark_replies_in(const std::vector<std::string>& chains) {
    settle(node(), {});
    shell("iptables-legacy -t mangle -F");
    for (const std::string& chain : chains) {
      shell(
          fmt::format("iptables-legacy -t mangle -A {} -m conntrack --ctdir REPLY --ctorigdst {} -j MARK --set-mark "
                      "0x100/0x3f00",
                      chain, vip_.text()));
    }
    shell("ip rule del priority 1000 2>/dev/null || true; ip rule add fwmark 0x100/0x3f00 lookup 100 priority 1000");
  }
  void mark_nothing() { shell("iptables-legacy -t mangle -F; ip rule del priority 1000 2>/dev/null || true"); }

  net::Address vip_;
  net::Address cluster_ip_;

 private:
  std::optional<lab::Responder> responder_;
};

TEST_F(Ipvs, reply_takes_the_uplink_that_the_source_mode_can_reach) {
  struct Row {
    const char* name;
    net::Address endpoint;
    const char* by_mark_in_prerouting;
  };
  for (const Row& row : {Row{"pod", node().pod_address[0], "B"}, Row{"host network", ip(kNode), "A"}}) {
    SCOPED_TRACE(row.name);
    balance_to(row.endpoint);
    settle(node(), {});
    EXPECT_EQ(uplink(), "A") << "no rule";
    steer_from(cluster_ip_);
    EXPECT_EQ(uplink(), "A") << "from ClusterIP";
    steer_from(vip_);
    EXPECT_EQ(uplink(), "B") << "from VIP";
    steer_from(row.endpoint);
    EXPECT_EQ(uplink(), "A") << "from endpoint";
    mark_replies_in({"PREROUTING"});
    EXPECT_EQ(uplink(), row.by_mark_in_prerouting) << "mark in prerouting";
    mark_replies_in({"PREROUTING", "OUTPUT"});
    EXPECT_EQ(uplink(), "B") << "mark in prerouting and output";
    mark_nothing();
  }
}

TEST_F(Ipvs, is_found_by_looking_and_a_kernel_without_the_tables_for_it_takes_no_reply) {
  const auto looked = node().host->within([&]() -> base::Status {
    auto socket = TRY(kernel::Socket::open(kernel::Bus::route));
    const auto facts = TRY(kernel::read_facts(socket, {}, {}));
    EXPECT_EQ(facts.service_proxy, state::ServiceProxy::ipvs);
    return {};
  });
  EXPECT_TRUE(looked) << looked.error().message();
  const auto steered = steer(*node().host, dataplane::compile({.replies = {{vip_, kTarget}}}));
  EXPECT_FALSE(steered);
}

}  // namespace
