#include "intent/cluster/shards.h"

#include <gtest/gtest.h>

#include "intent/cluster/small_cluster.h"

namespace intent {
namespace {

using Texts = std::vector<std::string>;

class ShardsTest : public testing::Test {
 protected:
  ShardsTest() {
    cluster_.wishes.rule("blue", {"203.0.113.0/24", "2001:db8::/64"}, 120, 1500).spec.source.modes = {
        api::SourceMode::local_endpoints};
    cluster_.wishes.service("web", {"10.96.0.1", "fd00::1"}, {"203.0.113.5"});
    slice_ = &cluster_.slices.emplace_back();
    slice_->meta.ns = "shop";
    slice_->service = "web";
  }
  void endpoint(const std::string& address, const std::string& node) {
    slice_->ready.push_back({.address = net::Address::parse(address).value(), .node_name = node});
  }
  void many(int count) {
    for (int i = 0; i < count; ++i) endpoint("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250), "n1");
  }
  // "name: address@node ..."
  Texts lines() const {
    Texts out;
    for (const auto& [name, config] : cluster_.server.configs) {
      std::string line = std::string(api::text(config.spec.state));
      for (const auto& source : config.spec.source_ips) line += " " + source.address + "@" + source.node_name;
      out.push_back(line);
    }
    return out;
  }

  SmallCluster cluster_;
  api::EndpointSlice* slice_ = nullptr;
};

TEST_F(ShardsTest, endpoints_are_published_so_that_old_agents_skip_them) {
  endpoint("10.1.0.8", "n2");
  endpoint("10.1.0.7", "n1");
  endpoint("fd01::7", "n1");  // Not of the address's family.
  cluster_.pass();
  ASSERT_EQ(lines(), Texts{"present 10.1.0.7@n1 10.1.0.8@n2"});
  const auto& [name, config] = *cluster_.server.configs.begin();
  const auto parsed = parse_shard_name(name);
  ASSERT_TRUE(parsed) << name;
  EXPECT_EQ(parsed->number, 0U);
  EXPECT_EQ(config.spec.service_ip, "10.96.0.1");
  EXPECT_EQ(config.spec.table, 0U);
  EXPECT_EQ(config.spec.route_table, 120U);
  EXPECT_EQ(config.spec.source_mode, api::SourceMode::local_endpoints);
  EXPECT_TRUE(cluster_.pass().configs.empty());
}

TEST_F(ShardsTest, nodes_are_named_for_local_endpoints_only) {
  cluster_.wishes.rule_named("blue").spec.source.modes = {api::SourceMode::endpoints};
  endpoint("10.1.0.7", "n1");
  cluster_.pass();
  EXPECT_EQ(lines(), Texts{"present 10.1.0.7@"});
}

TEST_F(ShardsTest, an_endpoint_that_comes_or_goes_is_an_update_of_one_object) {
  many(1200);
  EXPECT_EQ(cluster_.pass().configs.size(), 3U);
  EXPECT_TRUE(cluster_.pass().configs.empty());
  slice_->ready.erase(slice_->ready.begin());
  auto writes = cluster_.pass().configs;
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].step, Write::Step::repair);
  EXPECT_TRUE(writes[0].is_new_spec);
  EXPECT_FALSE(writes[0].is_drift);
  EXPECT_EQ(writes[0].object.spec.source_ips.size(), 499U);
  endpoint("10.9.9.9", "n1");
  writes = cluster_.pass().configs;
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].object.spec.source_ips.size(), 500U);
}

TEST_F(ShardsTest, without_endpoints_the_object_is_withdrawn) {
  endpoint("10.1.0.7", "n1");
  cluster_.pass();
  slice_->ready.clear();
  const auto writes = cluster_.pass().configs;
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].step, Write::Step::withdraw);
}

TEST_F(ShardsTest, an_address_of_two_services_goes_to_the_better_match_and_the_other_hears_of_it) {
  cluster_.wishes.rule("narrow", {"203.0.113.8/32"}, 200, 1500).spec.source.modes = {api::SourceMode::endpoints};
  cluster_.wishes.service("other", {"10.96.0.2"}, {"203.0.113.8"});
  endpoint("10.1.0.7", "n1");
  endpoint("10.1.0.8", "n1");
  auto& second = cluster_.slices.emplace_back();
  second.meta.ns = "shop";
  second.service = "other";
  second.ready = {{.address = net::Address::parse("10.1.0.8").value(), .node_name = "n1"}};
  const Decision decision = cluster_.pass();
  Texts all = lines();
  std::ranges::sort(all);
  EXPECT_EQ(all, (Texts{"present 10.1.0.7@n1", "present 10.1.0.8@"}));
  ASSERT_EQ(decision.desired.findings.size(), 1U);
  EXPECT_EQ(decision.desired.findings[0].service->meta.name, "web");
  EXPECT_EQ(decision.desired.rules[0].conflicts.size(), 1U);
}

TEST(ShardName, is_read_back_also_where_the_name_was_taken) {
  EXPECT_EQ(parse_shard_name("iprc-ep-0123456789-12")->number, 12U);
  EXPECT_EQ(parse_shard_name("iprc-ep-0123456789-12-2")->group, "0123456789");
  EXPECT_FALSE(parse_shard_name("iprc-ep-0123456789"));
  EXPECT_FALSE(parse_shard_name("iprc-ep-0123456789-x"));
  EXPECT_FALSE(parse_shard_name("iprc-10-96-0-1"));
}

}  // namespace
}  // namespace intent
