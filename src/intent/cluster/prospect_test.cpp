#include "intent/cluster/prospect.h"

#include <gtest/gtest.h>

namespace intent {
namespace {

using api::Dataplane;
using api::ServiceProxy;
using api::SourceMode;
using Modes = std::vector<SourceMode>;

class ProspectTest : public testing::Test {
 protected:
  Obstacle obstacle(Modes modes, Dataplane dataplane = Dataplane::automatic) {
    return prospect(std::move(modes), dataplane).obstacle;
  }
  Prospect prospect(Modes modes, Dataplane dataplane = Dataplane::automatic) {
    rule_.spec.source.modes = std::move(modes);
    return prospect_of(rule_, prefixes_, node_, dataplane);
  }
  void make_strict(std::vector<std::uint32_t> tables) {
    node_.facts.reverse_path_filter = {{.device = "eth1", .value = 1, .tables = std::move(tables)}};
  }

  ProspectTest() {
    rule_.spec.table = 100;
    node_.facts.service_proxy = ServiceProxy::nftables;
  }
  api::IPRule rule_;
  std::vector<net::Prefix> prefixes_ = {net::Prefix::parse("203.0.113.0/24").value()};
  api::NodeState::Status node_;
};

TEST_F(ProspectTest, the_mode_that_comes_furthest_counts) {
  EXPECT_EQ(obstacle({SourceMode::cluster_ip}), Obstacle::never_seen);
  EXPECT_EQ(obstacle({SourceMode::load_balancer_ip}), Obstacle::never_seen);
  EXPECT_EQ(obstacle({SourceMode::cluster_ip, SourceMode::reply}), Obstacle::none);
  EXPECT_EQ(prospect({SourceMode::cluster_ip, SourceMode::reply}).idle, Modes{SourceMode::cluster_ip});
  EXPECT_EQ(obstacle({}), Obstacle::never_seen) << "the default is ClusterIP";
}

TEST_F(ProspectTest, what_the_node_does_not_show_is_unknown) {
  for (const ServiceProxy proxy : {ServiceProxy::none, ServiceProxy::unknown}) {
    node_.facts.service_proxy = proxy;
    EXPECT_EQ(obstacle({SourceMode::cluster_ip}), Obstacle::unknown);
    EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::unknown);
  }
}

TEST_F(ProspectTest, replies_need_connections_and_sources_do_not) {
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::none) << "whether they are followed is not known";
  node_.facts.conntrack = false;
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::no_conntrack);
  EXPECT_EQ(obstacle({SourceMode::reply, SourceMode::local_endpoints}), Obstacle::none);
}

TEST_F(ProspectTest, a_strict_filter_counts_for_the_tables_that_lead_out_by_its_device) {
  make_strict({100});
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::strict_reverse_path);
  EXPECT_EQ(prospect({SourceMode::reply}).strict_devices, std::vector<std::string>{"eth1"});
  make_strict({120});
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::none) << "another table's";
  make_strict({});
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::none) << "an agent that does not say whose";
}

TEST_F(ProspectTest, a_strict_filter_is_no_matter_for_IPv6) {
  make_strict({100});
  prefixes_ = {net::Prefix::parse("2001:db8::/64").value()};
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::none);
}

TEST_F(ProspectTest, a_strict_filter_counts_for_sources_only_where_marks_are_ordered) {
  make_strict({100});
  node_.dataplane = api::Backend::marks;  // By itself: those of strict tables are not among them.
  EXPECT_EQ(obstacle({SourceMode::local_endpoints}), Obstacle::none);
  EXPECT_EQ(obstacle({SourceMode::local_endpoints}, Dataplane::marks), Obstacle::strict_reverse_path);
  EXPECT_EQ(obstacle({SourceMode::reply, SourceMode::local_endpoints}), Obstacle::none) << "one of them goes by rule";
  node_.facts.service_proxy = ServiceProxy::ipvs;
  EXPECT_EQ(obstacle({SourceMode::load_balancer_ip}, Dataplane::marks), Obstacle::none) << "bound to the node";
}

TEST_F(ProspectTest, a_vrf_is_the_table_that_the_node_says) {
  rule_.spec.table = 0;
  rule_.spec.vrf = "red";
  EXPECT_EQ(table_on(rule_.spec, node_.facts), std::nullopt);
  make_strict({77});
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::none);
  node_.facts.vrfs = {{.device = "blue", .table = 76}, {.device = "red", .table = 77}};
  EXPECT_EQ(table_on(rule_.spec, node_.facts), 77U);
  EXPECT_EQ(obstacle({SourceMode::reply}), Obstacle::strict_reverse_path);
}

TEST_F(ProspectTest, routes_are_missing_for_families_in_use) {
  node_.empty_tables = {{.table = 100, .family = api::IPFamily::v6}, {.table = 7, .family = api::IPFamily::v4}};
  EXPECT_TRUE(families_without_routes(rule_.spec, prefixes_, node_).empty());
  node_.empty_tables.push_back({.table = 100, .family = api::IPFamily::v4});
  EXPECT_EQ(families_without_routes(rule_.spec, prefixes_, node_), std::vector{net::Family::v4});
}

}  // namespace
}  // namespace intent
