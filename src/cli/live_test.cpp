#include "cli/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using kernel::nft::TracedHeader;
using kernel::nft::TracedPacket;
using testing::HasSubstr;

net::InterfaceName name(std::string_view text) {
  return net::InterfaceName::parse(text).value();
}

TracedHeader header(std::string_view from) {
  return {.from = net::Address::parse(from).value(),
          .to = net::Address::parse("198.18.7.9").value(),
          .ip_protocol = 17,
          .sport = 8080,
          .dport = 4000};
}

class LiveTest : public testing::Test {
 protected:
  LiveTest() {
    sight_.links.add(2, name("cni0"));
    sight_.links.add(3, name("eth1"));
    sight_.links.add(4, name("eth0"));
    sight_.seen.packets = {
        {.entered = header("10.244.1.7"),
         .ended = header("203.0.113.45"),
         .iif = 2,
         .oif = 3,
         .mark = 0x100,
         .steps = {{.table = "inet iprule", .chain = "pre", .rule = 12, .verdict = "jump reply"},
                   {.table = "inet iprule", .chain = "reply01", .rule = 14, .verdict = "continue", .mark = 0x100}},
         .fate = TracedPacket::Fate::left}};
  }
  std::string text() {
    Page page;
    show_live(page, sight_, walked_);
    return page.render({});
  }
  std::string document() {
    return json::object([&](json::Object& out) { put_live(out, sight_, walked_); });
  }

  LiveSight sight_;
  path::Verdict walked_{.kind = path::Verdict::Kind::leaves, .table = 100, .hops = {{.dev = name("eth1")}}};
};

TEST_F(LiveTest, a_packet_is_told_chain_by_chain_to_the_device_it_leaves_by) {
  EXPECT_EQ(text(),
            "Live     1 of 1 packets seen\n"
            "  1  10.244.1.7 -> 198.18.7.9 udp from port 8080 to port 4000, comes in by cni0\n"
            "       inet iprule pre      rule 12  jump reply\n"
            "       inet iprule reply01  rule 14  continue    mark 0x100\n"
            "     leaves by eth1, mark 0x100, as 203.0.113.45 -> 198.18.7.9\n");
  EXPECT_THAT(document(), HasSubstr(R"("iif":"cni0","oif":"eth1","mark":256,"fate":"Left","asWalked":true)"));
}

TEST_F(LiveTest, one_that_goes_otherwise_than_walked_is_counted) {
  sight_.seen.packets[0].oif = 4;
  EXPECT_EQ(strays(sight_, walked_), 1U);
  EXPECT_THAT(text(), HasSubstr("leaves by eth0"));
  EXPECT_THAT(text(), HasSubstr("Live     1 of 1 went otherwise than the verdict says\n"));
  sight_.seen.packets[0].fate = TracedPacket::Fate::unknown;
  EXPECT_EQ(strays(sight_, walked_), 1U) << "a way was there for it";
  EXPECT_EQ(strays(sight_, {.kind = path::Verdict::Kind::dropped}), 0U);
  sight_.seen.packets[0].fate = TracedPacket::Fate::delivered;
  EXPECT_EQ(strays(sight_, walked_), 1U);
  EXPECT_EQ(strays(sight_, {.kind = path::Verdict::Kind::delivered}), 0U);
  sight_.seen.packets[0].fate = TracedPacket::Fate::dropped;
  EXPECT_EQ(strays(sight_, walked_), 1U);
}

TEST_F(LiveTest, one_whose_end_may_have_been_lost_is_not_known_to_have_gone_otherwise) {
  sight_.seen.packets[0].fate = TracedPacket::Fate::unknown;
  sight_.seen.lost = true;
  EXPECT_EQ(strays(sight_, walked_), 0U);
  EXPECT_THAT(text(), HasSubstr("     was not heard of again; its end may be among what was lost\n"));
  EXPECT_THAT(document(), testing::Not(HasSubstr("asWalked")));
}

TEST_F(LiveTest, a_device_that_is_gone_is_told_by_its_number) {
  sight_.seen.packets[0].iif = 9;
  EXPECT_THAT(text(), HasSubstr("to port 4000, comes in by device 9\n"));
}

TEST_F(LiveTest, none_in_time_is_told_with_the_time) {
  sight_.seen.packets.clear();
  EXPECT_EQ(text(), "Live     0 of 1 packets seen within 10 s\n");
}

}  // namespace
}  // namespace cli
