#include "lab/kubernetes/kube_proxy.h"

#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lab/kubernetes/join.h"
#include "lab/scene.h"
#include "lab/world.h"
#include "testbed/assert_ok.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using lab::of_family;
using lab::Scene;
using lab::SceneNode;
using lab::Tally;
using lab::UplinkCount;

constexpr auto kBound = 120s;
constexpr int kRequests = 5;

// A Service with one VIP per family whose only endpoint is the scene's pod.
std::string manifests(const SceneNode& node) {
  std::string slices;
  for (const auto& [family, address] : {std::pair("IPv4", node.pod_address[0]), {"IPv6", node.pod_address[1]}}) {
    slices += fmt::format(R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: frontend-{0}, labels: {{kubernetes.io/service-name: frontend}}}}
addressType: {1}
ports: [{{port: 8080, protocol: UDP}}]
endpoints: [{{addresses: ["{2}"], nodeName: {3}, conditions: {{ready: true}}}}]
)",
                          family[3], family, address.text(), node.name);
  }
  return fmt::format(R"(apiVersion: v1
kind: Node
metadata: {{name: {0}}}
---
apiVersion: v1
kind: Service
metadata: {{name: frontend}}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  ipFamilyPolicy: RequireDualStack
  clusterIP: {1}
  clusterIPs: ["{1}", "{2}"]
  ports: [{{port: 8080, protocol: UDP}}]
{3})",
                     node.name, node.service[0].text(), node.service[1].text(), slices);
}

class KubeProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto world = lab::World::make();
    ASSERT_OK(world);
    world_.emplace(*std::move(world));
    auto scene = Scene::build(*world_, 1);
    ASSERT_OK(scene);
    scene_ = *std::move(scene);
    node_ = &scene_->nodes().front();
    ASSERT_OK(join(*world_, *node_->host, cluster_, 11));
    ASSERT_OK(cluster_.kubectl({"apply", "-f", "-"}, manifests(*node_)));
    ASSERT_OK(cluster_.kubectl({"patch", "node", node_->name, "--subresource=status", "-p",
                                R"({"status":{"addresses":[{"type":"InternalIP","address":"172.30.77.11"},)"
                                R"({"type":"InternalIP","address":"fd00:172:30:77::11"}]}})"}));
    ASSERT_OK(
        cluster_.kubectl({"patch", "service", "frontend", "--subresource=status", "-p",
                          fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"{}"}},{{"ip":"{}"}}]}}}}}})",
                                      node_->vip[0].text(), node_->vip[1].text())}));
  }

  Tally send(net::Family family, std::chrono::milliseconds bound = 10s) {
    const auto tally = scene_->send_requests(*node_, of_family(node_->vip, family), kRequests, bound);
    EXPECT_TRUE(tally) << tally.error().message();
    return tally ? *tally : Tally{};
  }

  void add_rule(net::Family family, const net::Address& source) {
    const auto done = run({.arguments = {"ip", family == net::Family::v4 ? "-4" : "-6", "rule", "add", "from",
                                         source.text(), "lookup", "100", "priority", "1000"},
                           .network = node_->host->network()},
                          kBound);
    ASSERT_TRUE(done && done->exit.ok()) << done->errors;
  }

  Cluster& cluster_ = shared_cluster();
  std::optional<lab::World> world_;
  std::unique_ptr<Scene> scene_;
  SceneNode* node_ = nullptr;
};

// What the modes of an IPRule rest on: under kube-proxy the reply still has the pod's address when its route is chosen.
TEST_F(KubeProxyTest, a_reply_is_steered_by_the_pods_address_and_not_by_the_services) {
  const auto proxy = start_kube_proxy(cluster_, *node_->host);
  ASSERT_OK(proxy);
  for (const net::Family family : {net::Family::v4, net::Family::v6}) {
    ASSERT_TRUE(eventually("the VIP is answered", kBound, [&] { return send(family, 100ms).replies_out.total() > 0; }))
        << (*proxy)->errors();
    const UplinkCount wrong{.eth0 = kRequests, .eth1 = 0};
    EXPECT_EQ(send(family).replies_out, wrong) << text(family) << ", no rule";
    add_rule(family, of_family(node_->service, family));
    EXPECT_EQ(send(family).replies_out, wrong) << text(family) << ", from the ClusterIP";
    add_rule(family, of_family(node_->vip, family));
    EXPECT_EQ(send(family).replies_out, wrong) << text(family) << ", from the VIP";
    add_rule(family, of_family(node_->pod_address, family));
    const Tally right = send(family);
    EXPECT_EQ(right.replies_out, (UplinkCount{.eth0 = 0, .eth1 = kRequests})) << text(family) << ", from the endpoint";
    EXPECT_EQ(right.answered, kRequests);
  }
}

}  // namespace
}  // namespace testbed
