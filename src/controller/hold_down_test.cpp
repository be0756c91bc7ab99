#include "controller/hold_down.h"

#include <utility>

#include <gtest/gtest.h>

#include "intent/cluster/small_cluster.h"

namespace controller {
namespace {

using namespace std::chrono_literals;
using intent::Write;

const base::TimePoint kStart{1000s};

std::vector<Write> withdrawal(bool is_in_the_way = false) {
  Write write{.step = Write::Step::withdraw, .object = {}, .is_in_the_way = is_in_the_way};
  write.object.meta.uid = "u";
  return {write};
}

TEST(HoldDown, D16_an_address_that_returns_within_the_delay_changes_nothing) {
  HoldDown hold(2s);
  auto writes = withdrawal();
  EXPECT_EQ(hold.hold(writes, kStart), kStart + 2s);
  EXPECT_TRUE(writes.empty());

  std::vector<Write> none;  // It is back.
  EXPECT_EQ(hold.hold(none, kStart + 1s), std::nullopt);

  writes = withdrawal();  // And goes again: the delay begins anew.
  EXPECT_EQ(hold.hold(writes, kStart + 2s), kStart + 4s);
  EXPECT_TRUE(writes.empty());
  writes = withdrawal();
  EXPECT_EQ(hold.hold(writes, kStart + 4s), std::nullopt);
  EXPECT_EQ(writes.size(), 1U);
}

TEST(HoldDown, D16_one_of_two_addresses_that_flaps_changes_nothing) {
  intent::SmallCluster cluster;
  cluster.wishes.rule("blue", {"203.0.113.0/24"}, 100, 1000);
  api::IPRule& green = cluster.wishes.rule("green", {"198.51.100.0/24"}, 200, 2000);
  api::Service& service = cluster.wishes.service("web", {"10.96.0.7"}, {"203.0.113.5", "198.51.100.5"});
  EXPECT_EQ(cluster.pass().configs.size(), 2U);

  HoldDown hold(2s);
  const auto both = std::exchange(service.vips, {service.vips[0]});
  auto writes = cluster.decide().configs;
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(hold.hold(writes, kStart), kStart + 2s);
  EXPECT_TRUE(writes.empty()) << "the other address keeps the source steered, but to where it was before";
  service.vips = both;
  EXPECT_TRUE(cluster.decide().configs.empty());

  green.spec.table = 201;
  writes = cluster.decide().configs;
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(hold.hold(writes, kStart + 1s), std::nullopt);
  EXPECT_EQ(writes.size(), 2U) << "another table is there in the same pass: nothing is gained by waiting";
}

TEST(HoldDown, D11_what_is_replaced_goes_at_once) {
  HoldDown hold(2s);
  auto writes = withdrawal(true);
  EXPECT_EQ(hold.hold(writes, kStart), std::nullopt);
  EXPECT_EQ(writes.size(), 1U);
}

}  // namespace
}  // namespace controller
