#include "intent/node/source_sight.h"

#include <array>
#include <string_view>

#include <gtest/gtest.h>

namespace intent {
namespace {

using api::SourceMode;
using state::ServiceProxy;

struct Row {
  ServiceProxy proxy;
  // ClusterIP, LoadBalancerIP, Endpoints, LocalEndpoints, Reply.
  std::array<Sight, names(SourceMode()).size()> sights;
};

constexpr Sight kNever = Sight::never;
constexpr Sight kDepends = Sight::unknown;
constexpr Sight kAlways = Sight::always;

// As it was measured, for pods and for endpoints on the host's own network, IPv4 and IPv6 alike.
constexpr std::array kTable = {
    Row{ServiceProxy::nftables, {kNever, kNever, kAlways, kAlways, kAlways}},
    Row{ServiceProxy::iptables, {kNever, kNever, kAlways, kAlways, kAlways}},
    Row{ServiceProxy::ipvs, {kNever, kAlways, kNever, kNever, kAlways}},
    Row{ServiceProxy::none, {kDepends, kDepends, kDepends, kDepends, kDepends}},
    Row{ServiceProxy::unknown, {kDepends, kDepends, kDepends, kDepends, kDepends}},
};

TEST(SourceSight, every_mode_behind_every_proxy) {
  for (const Row& row : kTable) {
    for (std::size_t i = 0; i < row.sights.size(); ++i) {
      const auto mode = static_cast<SourceMode>(i);
      EXPECT_EQ(sight_of(mode, row.proxy), row.sights.at(i)) << text(mode) << " behind " << text(row.proxy);
    }
  }
}

TEST(SourceSight, reply_is_the_one_mode_that_works_behind_every_proxy_of_kubernetes) {
  for (const ServiceProxy proxy : {ServiceProxy::nftables, ServiceProxy::iptables, ServiceProxy::ipvs}) {
    EXPECT_EQ(modes_with(Sight::always, proxy).back(), SourceMode::reply);
  }
}

TEST(SourceSight, modes_are_listed_in_the_order_of_the_api) {
  EXPECT_EQ(modes_with(Sight::never, ServiceProxy::nftables),
            (std::vector{SourceMode::cluster_ip, SourceMode::load_balancer_ip}));
  EXPECT_EQ(modes_with(Sight::always, ServiceProxy::ipvs),
            (std::vector{SourceMode::load_balancer_ip, SourceMode::reply}));
  EXPECT_TRUE(modes_with(Sight::never, ServiceProxy::none).empty());
}

}  // namespace
}  // namespace intent
