#include "cli/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::HasSubstr;

TEST(Preflight, kube_proxys_mode_is_read_from_its_configuration) {
  ClusterSetup setup{.nodes = 1};
  setup.daemonsets = {{"kube-proxy", "kube-system"}};
  EXPECT_EQ(likely_proxy(setup).proxy, state::ServiceProxy::iptables) << "what it takes where it is told nothing";
  setup.proxy_config = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nmode: nftables\n";
  EXPECT_EQ(likely_proxy(setup).proxy, state::ServiceProxy::nftables);
  setup.proxy_config = "mode: ipvs\n";
  EXPECT_EQ(likely_proxy(setup).proxy, state::ServiceProxy::ipvs);
  setup.proxy_config = "mode: [";
  EXPECT_EQ(likely_proxy(setup).proxy, state::ServiceProxy::unknown);
}

TEST(Preflight, a_network_without_kube_proxy_answers_for_Services_itself) {
  ClusterSetup setup;
  setup.daemonsets = {{"cilium", "kube-system"}};
  EXPECT_EQ(likely_proxy(setup).proxy, state::ServiceProxy::none);
  EXPECT_EQ(likely_proxy(setup).sign, "DaemonSet kube-system/cilium, and no kube-proxy");
  EXPECT_EQ(likely_proxy({}).proxy, state::ServiceProxy::unknown);
}

TEST(Preflight, says_likely_and_that_no_kernel_was_asked) {
  ClusterSetup setup{.nodes = 3, .kernels = {"6.1.0", "6.12.0"}};
  setup.proxy_config = "mode: nftables\n";
  setup.services = 14;
  setup.with_address = 2;
  EXPECT_EQ(show_preflight(setup).page.render({}),
            "  ok  nodes          3, kernel 6.1.0, 6.12.0\n"
            "  ok  service proxy  likely kube-proxy nftables (mode of ConfigMap kube-proxy)\n"
            "  ok  Services       2 of 14 have a load balancer's address\n"
            "  ok  installed      nothing of ours yet\n"
            "Likely to work: Reply (recommended), Endpoints, LocalEndpoints.  Likely not: ClusterIP, LoadBalancerIP.\n"
            "No kernel was asked. Once agents run, `iprulectl doctor` tells by what nodes show.\n");
  setup.gaps = {"daemonsets.apps: 403 Forbidden"};
  EXPECT_EQ(show_preflight(setup).code, ExitCode::could_not_ask);
}

TEST(Preflight, takes_the_API_servers_lists) {
  json::Reader reader;
  ClusterSetup setup;
  ASSERT_TRUE(
      add_nodes(setup, reader.parse(R"({"items":[{"status":{"nodeInfo":{"kernelVersion":"6.1"}}},{}]})").value()));
  ASSERT_TRUE(add_daemonsets(
      setup,
      reader.parse(R"({"items":[{"metadata":{"name":"cilium","namespace":"a"}},{"metadata":{"name":"x"}}]})").value()));
  ASSERT_TRUE(add_services(setup, reader
                                      .parse(R"({"items":[{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer"},)"
                                             R"("status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.45"}]}}}]})")
                                      .value()));
  EXPECT_EQ(setup.nodes, 2U);
  EXPECT_THAT(setup.kernels, testing::ElementsAre("6.1"));
  EXPECT_EQ(setup.daemonsets.size(), 1U);
  EXPECT_EQ(setup.with_address, 1U);
}

}  // namespace
}  // namespace cli
