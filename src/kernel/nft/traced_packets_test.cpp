#include "kernel/nft/traced_packets.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include <gtest/gtest.h>

#include "kernel/nft/trace_wait.h"

namespace kernel::nft {
namespace {

using namespace std::chrono_literals;
using At = TraceEvent::At;
using Fate = TracedPacket::Fate;

TraceEvent own(std::uint32_t id, const char* chain, At at = At::rule) {
  TraceEvent out{.id = id, .family = "inet", .table = "iprule-trace-1", .chain = chain, .at = at};
  out.header = TracedHeader{.from = net::Address::parse("10.244.1.7").value(),
                            .to = net::Address::parse("198.18.7.9").value(),
                            .ip_protocol = 17};
  return out;
}

TraceEvent met(std::uint32_t id, std::int32_t verdict, std::uint32_t mark = 0) {
  return {.id = id,
          .family = "inet",
          .table = "iprule",
          .chain = "pre",
          .rule = 7,
          .verdict = {.code = verdict},
          .mark = mark};
}

TEST(TracedPackets, are_told_apart_however_their_events_come) {
  TracedPackets traced("iprule-trace-1");
  EXPECT_EQ(traced.awaited(2), 2U);
  traced.take(own(1, "pre"));
  traced.take(own(2, "out"));
  traced.take(met(2, NFT_CONTINUE, 0x200));
  traced.take(met(1, NFT_CONTINUE, 0x100));
  EXPECT_EQ(traced.awaited(2), 2U) << "both are on their way";
  TraceEvent leaves = own(1, "post", At::policy);
  leaves.oif = 3;
  leaves.mark = 0x100;
  leaves.header->from = net::Address::parse("203.0.113.45").value();
  traced.take(leaves);
  traced.take(own(2, "in", At::policy));
  EXPECT_EQ(traced.awaited(2), 0U);
  ASSERT_EQ(traced.packets().size(), 2U);
  const TracedPacket& first = traced.packets()[0];
  EXPECT_EQ(first.fate, Fate::left);
  EXPECT_EQ(first.oif, 3U);
  EXPECT_EQ(first.mark, 0x100U);
  EXPECT_EQ(first.entered.from.text(), "10.244.1.7");
  EXPECT_EQ(first.ended.from.text(), "203.0.113.45") << "the source was translated";
  EXPECT_EQ(
      first.steps,
      (std::vector<TracedPacket::Step>{
          {.table = "inet iprule", .chain = "pre", .at = At::rule, .rule = 7, .verdict = "continue", .mark = 0x100}}));
  EXPECT_TRUE(traced.packets()[1].sent_here);
  EXPECT_EQ(traced.packets()[1].fate, Fate::delivered);
}

TEST(TracedPackets, a_number_that_comes_again_is_another_packet) {
  TracedPackets traced("iprule-trace-1");
  traced.take(own(1, "pre"));
  traced.take(own(1, "pre"));
  traced.take(own(1, "post", At::policy));
  ASSERT_EQ(traced.packets().size(), 2U);
  EXPECT_EQ(traced.packets()[0].fate, Fate::unknown);
  EXPECT_EQ(traced.packets()[1].fate, Fate::left);
  EXPECT_EQ(traced.awaited(2), 0U) << "nobody will hear of the first again";
}

TEST(TracedPackets, one_that_came_through_a_bridge_is_known_by_its_sender) {
  TracedPackets traced("iprule-trace-1");
  traced.take(own(1, "pre"));
  TraceEvent other = own(8, "fwd", At::policy);
  other.header->sport = 9;
  traced.take(other);
  traced.take(own(9, "fwd", At::policy));
  traced.take(met(9, NFT_CONTINUE, 0x100));
  traced.take(own(9, "post", At::policy));
  ASSERT_EQ(traced.packets().size(), 1U);
  EXPECT_EQ(traced.packets()[0].fate, Fate::left);
  EXPECT_EQ(traced.packets()[0].steps.size(), 1U);
  EXPECT_EQ(traced.awaited(1), 0U);
}

TEST(TracedPackets, those_that_somebody_else_traces_are_not_ours) {
  TracedPackets traced("iprule-trace-1");
  traced.take(own(5, "pre", At::policy));
  traced.take(met(5, NFT_CONTINUE));
  traced.take(own(5, "post", At::policy));
  EXPECT_TRUE(traced.packets().empty());
}

TEST(TracedPackets, end_where_they_are_dropped) {
  TracedPackets traced("iprule-trace-1");
  traced.take(own(1, "pre"));
  traced.take(met(1, NF_DROP));
  EXPECT_EQ(traced.awaited(1), 0U);
  EXPECT_EQ(traced.packets()[0].fate, Fate::dropped);
}

TEST(TraceWait, one_that_began_in_time_is_heard_to_its_end) {
  const base::TimePoint start{1h};
  TracedPackets traced("iprule-trace-1");
  TraceWait wait(3, start + 10s);
  traced.take(own(1, "pre"));
  EXPECT_TRUE(wait.goes_on(traced, start + 1s));
  EXPECT_EQ(wait.until(), start + 10s);
  EXPECT_TRUE(wait.goes_on(traced, start + 10s)) << "it is on its way";
  EXPECT_EQ(wait.until(), start + 10s + TraceWait::kOnItsWay);
  traced.take(own(2, "pre"));  // Nobody waits for this one any more.
  traced.take(own(1, "post", At::policy));
  EXPECT_FALSE(wait.goes_on(traced, start + 10s + 1ms));
}

TEST(TraceWait, one_that_was_taken_away_is_not_waited_for_until_the_deadline) {
  const base::TimePoint start{1h};
  TracedPackets traced("iprule-trace-1");
  TraceWait wait(1, start + 10s);
  traced.take(own(1, "pre"));
  EXPECT_TRUE(wait.goes_on(traced, start));
  EXPECT_FALSE(wait.goes_on(traced, start + TraceWait::kOnItsWay));
}

TEST(TraceWait, the_deadline_ends_it_where_none_has_begun) {
  TraceWait wait(1, base::TimePoint{1h});
  EXPECT_FALSE(wait.goes_on(TracedPackets("iprule-trace-1"), base::TimePoint{1h}));
}

}  // namespace
}  // namespace kernel::nft
