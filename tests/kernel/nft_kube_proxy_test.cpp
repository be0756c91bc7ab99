// What steers a reply when the real kube-proxy balances: an API server, a Service with a VIP, kube-proxy on the node,
// and requests that come in by the second uplink. Only `from <endpoint>` and Reply bring the answer back there.
#include <fstream>

#include <fmt/format.h>

#include "lab/kubernetes/join.h"
#include "testbed/cluster.h"
#include "testbed/temp_folder.h"
#include "tests/kernel/steered_scene.h"

namespace {

using namespace std::chrono_literals;
using dataplane::Mode;
using dataplane::Steering;

constexpr dataplane::Target kTarget{.priority = 1000, .table = lab::Scene::kTable};

// Both families of one thing.
struct Pair {
  const char* v4;
  const char* v6;
};
constexpr Pair kVip{"203.0.113.10", "2001:db8:f::10"};
constexpr Pair kClusterIp{"10.96.7.7", "fd00:10:96::77"};
constexpr Pair kClient{"198.18.7.9", "2001:db8:7::9"};
constexpr Pair kNode{"10.0.0.11", "fd00:a::11"};

struct Endpoint {
  const char* name;
  const char* node;
  Pair address;
  const char* policy;  // Of external traffic.
};
constexpr Endpoint kEndpoints[] = {
    {"pod, Local", "worker-1", {"10.244.1.7", "fd00:10:244:1::7"}, "Local"},
    {"pod, Cluster", "worker-1", {"10.244.1.7", "fd00:10:244:1::7"}, "Cluster"},
    {"pod of another node, Cluster", "worker-2", {"10.244.2.7", "fd00:10:244:2::7"}, "Cluster"},
    {"host network, Local", "worker-1", kNode, "Local"},
    {"host network, Cluster", "worker-1", kNode, "Cluster"},
};

class KubeProxy : public SteeredScene, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    build(2);
    ASSERT_TRUE(lab::join(world(), *node().host, cluster_, 2));
    connect_pods();
    route_vips();
    serve();
    kubectl({"apply", "-f", "-"}, kNodeObject);
    kubectl({"patch", "node", "worker-1", "--subresource=status", "--type=merge", "-p", node_status()});
    start_kube_proxy();
  }
  void TearDown() override {
    node().host->kill_programs();
    kubectl({"delete", "service,endpointslice", "--all", "--ignore-not-found"});
  }

  std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    auto done = cluster_.kubectl(std::move(arguments), std::move(input));
    EXPECT_TRUE(done) << done.error().message();
    return done ? *std::move(done) : std::string();
  }

  static constexpr const char* kNodeObject =
      R"({apiVersion: v1, kind: Node, metadata: {name: worker-1}, spec: {podCIDRs: [10.244.1.0/24, "fd00:10:244:1::/64"]}})";
  static std::string node_status() {
    return fmt::format(R"({{"status":{{"addresses":[{{"type":"InternalIP","address":"{}"}},)"
                       R"({{"type":"InternalIP","address":"{}"}}]}}}})",
                       kNode.v4, kNode.v6);
  }

  // The VIP of an earlier endpoint stays, so that kube-proxy has one change to make.
  void publish(const Endpoint& endpoint) {
    std::string objects = fmt::format(R"(
apiVersion: v1
kind: Service
metadata: {{name: shop, namespace: default}}
spec:
  type: LoadBalancer
  allocateLoadBalancerNodePorts: true
  externalTrafficPolicy: {}
  clusterIP: {}
  clusterIPs: [{}, "{}"]
  ipFamilyPolicy: RequireDualStack
  ports: [{{name: echo, port: 8080, protocol: UDP}}]
)",
                                      endpoint.policy, kClusterIp.v4, kClusterIp.v4, kClusterIp.v6);
    for (const auto& [family, address] :
         {std::pair("IPv4", endpoint.address.v4), std::pair("IPv6", endpoint.address.v6)}) {
      objects += fmt::format(R"(
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: shop-{0}, namespace: default, labels: {{kubernetes.io/service-name: shop}}}}
addressType: {1}
ports: [{{name: echo, port: 8080, protocol: UDP}}]
endpoints: [{{addresses: ["{2}"], nodeName: {3}, conditions: {{ready: true}}}}]
)",
                             family == std::string_view("IPv4") ? 4 : 6, family, address, endpoint.node);
    }
    kubectl({"apply", "--server-side", "--force-conflicts", "-f", "-"}, objects);
    kubectl({"patch", "service", "shop", "--subresource=status", "--type=merge", "-p",
             fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"{}"}},{{"ip":"{}"}}]}}}}}})", kVip.v4,
                         kVip.v6)});
    EXPECT_TRUE(testbed::eventually("kube-proxy programs the endpoint", 30s, [&] { return programmed(endpoint); }))
        << ruleset();
  }

  // Everything kube-proxy wrote, as one text without handles and counters.
  std::string ruleset() {
    const int network = node().host->network();
    if (GetParam() == std::string_view("nftables")) return run({"nft", "list", "ruleset"}, network);
    return run({"iptables-save"}, network) + run({"ip6tables-save"}, network);
  }
  bool programmed(const Endpoint& endpoint) {
    const std::string text = ruleset();
    const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    const bool nftables = GetParam() == std::string_view("nftables");
    const auto leads_to = [&](const std::string& address, const std::string& bracketed) {
      return nftables ? has(": " + address + " . 8080") : has("--to-destination " + bracketed + ":8080");
    };
    const std::string masquerade =
        nftables ? "comment \"masquerade\"" : "masquerade traffic for default/shop:echo external destinations";
    const bool hides_client = has(masquerade);  // With policy Local it must not.
    return has(kVip.v4) && has(kVip.v6) && leads_to(endpoint.address.v4, endpoint.address.v4) &&
           leads_to(endpoint.address.v6, fmt::format("[{}]", endpoint.address.v6)) &&
           hides_client == (endpoint.policy == std::string_view("Cluster"));
  }

  // "B": answered, by the uplink the request came from. "A": the reply left by the other one, in both families.
  std::string uplink() {
    Flows v4(scene().client(), ip(kClient.v4), ip(kVip.v4), 3);
    Flows v6(scene().client(), ip(kClient.v6), ip(kVip.v6), 3);
    auto eth0 = lab::Tap::open(*node().host, "eth0").value();
    v4.send();
    v6.send();
    int a4 = 0;
    int a6 = 0;
    const bool seen = bool{testbed::eventually("replies", 10s, [&] {
      const auto packets = eth0.take().value();
      a4 += static_cast<int>(std::ranges::count(packets, ip(kClient.v4), &lab::Tap::Packet::destination));
      a6 += static_cast<int>(std::ranges::count(packets, ip(kClient.v6), &lab::Tap::Packet::destination));
      return v4.answered() + a4 >= 3 && v6.answered() + a6 >= 3;
    })};
    if (!seen) return fmt::format("lost: IPv4 {} B {} A, IPv6 {} B {} A", v4.answered(), a4, v6.answered(), a6);
    if (v4.answered() == 3 && v6.answered() == 3) return "B";
    return v4.answered() == 0 && v6.answered() == 0 ? "A" : "mixed";
  }

  static Steering from(const Pair& addresses, Mode mode) {
    Steering out{.sources = {{ip(addresses.v4), kTarget}, {ip(addresses.v6), kTarget}}, .mode = mode};
    out.facts.local = {ip(kNode.v4), ip(kNode.v6)};
    return out;
  }
  static Steering reply() { return {.replies = {{ip(kVip.v4), kTarget}, {ip(kVip.v6), kTarget}}}; }

  testbed::Cluster& cluster_ = testbed::shared_cluster();

  void start_kube_proxy() {
    const auto config = folder_ / "kube-proxy.yaml";
    std::ofstream(config) << fmt::format(R"(
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: {}
hostnameOverride: worker-1
clientConnection: {{kubeconfig: "{}"}}
clusterCIDR: 10.244.0.0/16,fd00:10:244::/48
conntrack: {{maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
)",
                                         GetParam(), cluster_.admin_kubeconfig().native());
    const auto started = node().host->start(
        {.arguments = {cluster_.program(), "kube-proxy", "--config", config}, .log = folder_ / "kube-proxy.log"});
    ASSERT_TRUE(started) << started.error().message();
  }

 private:
  void connect_pods() {
    run({"ip", "-n", "worker-1", "route", "add", "10.244.2.0/24", "via", "10.0.0.12"});
    run({"ip", "-n", "worker-2", "route", "add", "10.244.1.0/24", "via", "10.0.0.11"});
    run({"ip", "-n", "worker-1", "-6", "route", "add", "fd00:10:244:2::/64", "via", "fd00:a::12"});
    run({"ip", "-n", "worker-2", "-6", "route", "add", "fd00:10:244:1::/64", "via", "fd00:a::11"});
  }
  void route_vips() {
    run({"ip", "-n", "gateway-b", "route", "add", kVip.v4, "via", "198.51.100.11"});
    run({"ip", "-n", "gateway-b", "-6", "route", "add", kVip.v6, "via", "2001:db8:b::11"});
  }
  // The pods answer already.
  void serve() {
    std::vector<base::Fd> sockets;
    for (const char* text : {kNode.v4, kNode.v6}) {
      sockets.push_back(lab::bind_udp(*node().host, ip(text), lab::kServicePort).value());
    }
    responder_.emplace(lab::Responder::start(std::move(sockets)).value());
  }

  testbed::TempFolder folder_;
  std::optional<lab::Responder> responder_;
};

TEST_P(KubeProxy, reply_takes_the_uplink_that_the_source_mode_can_reach) {
  for (const Endpoint& endpoint : kEndpoints) {
    SCOPED_TRACE(endpoint.name);
    publish(endpoint);
    settle(node(), {});
    EXPECT_EQ(uplink(), "A") << "no rule";
    settle(node(), from(kClusterIp, Mode::rules));
    EXPECT_EQ(uplink(), "A") << "from ClusterIP";
    settle(node(), from(kVip, Mode::rules));
    EXPECT_EQ(uplink(), "A") << "from VIP";
    settle(node(), from(endpoint.address, Mode::rules));
    EXPECT_EQ(uplink(), "B") << "from endpoint, by rules";
    settle(node(), from(endpoint.address, Mode::marks));
    EXPECT_EQ(uplink(), "B") << "from endpoint, by marks";
    settle(node(), reply());
    EXPECT_EQ(uplink(), "B") << "Reply";
  }
}

TEST_P(KubeProxy, our_table_survives_its_restart_and_pods_and_nodes_are_answered) {
  publish(kEndpoints[1]);
  settle(node(), reply());
  const auto ours = [&] { return run({"nft", "-a", "list", "table", "inet", "iprule"}, node().host->network()); };
  const std::string before = ours();
  node().host->kill_programs();
  start_kube_proxy();
  publish(kEndpoints[0]);
  EXPECT_EQ(ours(), before);
  EXPECT_EQ(uplink(), "B");

  Flows itself(*node().host, ip(kNode.v4), ip(kVip.v4), 3);
  EXPECT_TRUE(itself.ask()) << "the node";
  Flows pod(*node().pod, ip("10.244.1.7"), ip(kVip.v4), 3);
  EXPECT_TRUE(pod.ask()) << "the pod through its own VIP";
}

INSTANTIATE_TEST_SUITE_P(Modes, KubeProxy, testing::Values("nftables", "iptables"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
