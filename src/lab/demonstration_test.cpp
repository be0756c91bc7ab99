#include "lab/demonstration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lab {
namespace {

Row row(std::string what, UplinkCount in, UplinkCount out, int answered) {
  return {.what = std::move(what),
          .tally = {.requests = 20, .requests_in = in, .replies_out = out, .answered = answered}};
}

TEST(Demonstration, a_table_says_in_words_what_was_counted) {
  EXPECT_EQ(format_table({
                row("no rule, IPv4", {.eth1 = 20}, {.eth0 = 20}, 0),
                row("IPRule public-eu, ClusterIP", {.eth1 = 20}, {.eth1 = 20}, 20),
                row("half way", {.eth1 = 20}, {.eth0 = 3, .eth1 = 17}, 17),
                row("pod gone", {.eth1 = 20}, {}, 0),
                row("nftables flushed by somebody, worker-3", {.eth1 = 20}, {.eth1 = 20}, 20),
            }),
            "                                  requests in    replies out       verdict\n"
            "  no rule, IPv4                   eth1 20        eth0 20           wrong uplink\n"
            "  IPRule public-eu, ClusterIP     eth1 20        eth1 20           right\n"
            "  half way                        eth1 20        eth0 3, eth1 17   wrong uplink (3 of 20)\n"
            "  pod gone                        eth1 20        none              no reply\n"
            "  nftables flushed by somebody, worker-3 eth1 20        eth1 20           right\n");
}

Report report(std::string node, net::Family family, bool right) {
  const UplinkCount out = right ? UplinkCount{.eth1 = 20} : UplinkCount{.eth0 = 20};
  return {.node = std::move(node),
          .family = family,
          .tally = {.requests = 20, .requests_in = {.eth1 = 20}, .replies_out = out, .answered = right ? 20 : 0}};
}

TEST(Demonstration, what_all_nodes_say_alike_is_said_once) {
  using net::Family;
  const auto names = [](const std::vector<Row>& rows) {
    std::string out;
    for (const Row& one : rows) out += fmt::format("{} {}; ", one.what, one.tally.requests);
    return out;
  };
  EXPECT_EQ(names(rows_of("flush", "",
                          {report("w1", Family::v4, true), report("w1", Family::v6, true),
                           report("w2", Family::v4, true), report("w2", Family::v6, true)})),
            "flush 80; ");
  EXPECT_EQ(names(rows_of("flush", "",
                          {report("w1", Family::v4, true), report("w1", Family::v6, true),
                           report("w2", Family::v4, true), report("w2", Family::v6, false)})),
            "flush, w1 40; flush, w2, IPv4 20; flush, w2, IPv6 20; ");
}

TEST(Demonstration, a_verdict_may_say_why) {
  Row noted = row("", {.eth1 = 20}, {.eth0 = 20}, 0);
  noted.note = "the source is the pod's address";
  EXPECT_EQ(noted.verdict(), "wrong uplink: the source is the pod's address");
}

TEST(Demonstration, right_means_that_the_client_got_every_answer) {
  EXPECT_TRUE(row("", {.eth1 = 20}, {.eth1 = 20}, 20).right());
  EXPECT_FALSE(row("", {.eth1 = 20}, {.eth1 = 20}, 19).right());
  EXPECT_FALSE(row("", {.eth0 = 20}, {.eth1 = 20}, 20).right());
  EXPECT_FALSE(row("", {.eth1 = 20}, {.eth0 = 1, .eth1 = 19}, 19).right());
}

TEST(Demonstration, wrong_means_that_every_reply_left_by_the_other_uplink) {
  EXPECT_TRUE(row("", {.eth1 = 20}, {.eth0 = 20}, 0).wrong());
  EXPECT_FALSE(row("", {.eth1 = 20}, {}, 0).wrong());
  EXPECT_FALSE(row("", {.eth1 = 20}, {.eth0 = 19, .eth1 = 1}, 1).wrong());
}

}  // namespace
}  // namespace lab
