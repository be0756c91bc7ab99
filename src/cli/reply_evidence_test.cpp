#include "cli/reply_evidence.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

const std::vector<Frontend> kFrontends = {
    {.vip = ip("203.0.113.45"), .cluster_ips = {ip("10.96.23.17")}},
    {.vip = ip("203.0.113.46"), .cluster_ips = {ip("10.96.23.18")}},
    {.vip = ip("203.0.113.47"), .cluster_ips = {ip("10.96.23.19")}},
};

TEST(ReplyEvidence, whose_address_replies_bear_is_told_by_who_answers) {
  const auto evidence = weigh(kFrontends, {{ip("203.0.113.45"), {{ip("10.244.1.7"), 2}, {ip("10.244.2.9"), 1}}},
                                           {ip("203.0.113.46"), {{ip("203.0.113.46"), 5}}},
                                           {ip("203.0.113.47"), {{ip("10.96.23.19"), 1}}},
                                           {ip("203.0.113.99"), {{ip("10.244.1.7"), 9}}}});
  ASSERT_EQ(evidence.seen.size(), 3U) << "of the fourth nobody asked";
  EXPECT_EQ(evidence.seen[0].bears, ReplyBears::load_balancer) << "that with most flows";
  EXPECT_EQ(evidence.seen[1].bears, ReplyBears::endpoint);
  EXPECT_EQ(text(evidence.seen[1]),
            "3 flows to 203.0.113.45: routed with source 10.244.1.7 and 1 more, original destination 203.0.113.45");
  EXPECT_EQ(evidence.seen[2].bears, ReplyBears::cluster_ip);
  EXPECT_EQ(text(evidence.seen[2]),
            "1 flow to 203.0.113.47: routed with source 10.96.23.19, original destination 203.0.113.47");
}

TEST(ReplyEvidence, without_connections_there_is_none) {
  EXPECT_EQ(weigh(kFrontends, {}), ReplyEvidence());
}

}  // namespace
}  // namespace cli
