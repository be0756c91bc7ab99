#include "cli/source_modes.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

using api::SourceMode;
using state::ServiceProxy;

TEST(SourceModes, what_to_advise_by_what_is_seen) {
  const auto advice = [](const DataPath& path) { return source_modes(path).recommended; };
  for (const ServiceProxy proxy : {ServiceProxy::nftables, ServiceProxy::iptables, ServiceProxy::ipvs}) {
    EXPECT_EQ(advice({.proxy = proxy}), SourceMode::reply);
  }
  EXPECT_EQ(advice({.proxy = ServiceProxy::nftables, .tells_replies = false}), SourceMode::local_endpoints);
  EXPECT_EQ(advice({.proxy = ServiceProxy::ipvs, .tells_replies = false}), SourceMode::load_balancer_ip);
  EXPECT_EQ(advice({.proxy = ServiceProxy::none}), std::nullopt);
  EXPECT_EQ(advice({.proxy = ServiceProxy::none, .cilium = true}), SourceMode::load_balancer_ip);
  EXPECT_EQ(advice({.proxy = ServiceProxy::unknown}), std::nullopt);
  EXPECT_EQ(advice({.proxy = ServiceProxy::unknown, .seen = ReplyBears::endpoint}), SourceMode::reply);
  EXPECT_EQ(advice({.proxy = ServiceProxy::none, .seen = ReplyBears::cluster_ip}), SourceMode::cluster_ip);
  EXPECT_EQ(advice({.proxy = ServiceProxy::none, .seen = ReplyBears::load_balancer}), SourceMode::load_balancer_ip);
}

TEST(SourceModes, a_proxy_that_is_known_does_the_same_with_every_connection) {
  EXPECT_EQ(source_modes({.proxy = ServiceProxy::ipvs, .seen = ReplyBears::endpoint}),
            source_modes({.proxy = ServiceProxy::ipvs}));
}

TEST(SourceModes, the_recommended_one_comes_first) {
  const auto modes = source_modes({.proxy = ServiceProxy::ipvs});
  EXPECT_EQ(works_text(modes), "Reply (recommended), LoadBalancerIP");
  EXPECT_EQ(fails_text(modes), "ClusterIP, Endpoints, LocalEndpoints");
}

}  // namespace
}  // namespace cli
