#include "kernel/nft/trace_event.h"

#include <array>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include <gtest/gtest.h>

#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

Message event(std::uint16_t type = NFT_MSG_TRACE) {
  Message out = message_of(type, 0, NFPROTO_INET);
  put_number(out, NFTA_TRACE_ID, 7);
  out.put_text(NFTA_TRACE_TABLE, "iprule");
  out.put_text(NFTA_TRACE_CHAIN, "pre");
  return out;
}

base::Result<TraceEvent> decoded(const Message& message) {
  std::span<const std::byte> rest = message.bytes();
  return decode_trace(next_message(rest).value());
}

template <std::size_t N>
std::array<std::byte, N> bytes(const unsigned char (&values)[N]) {
  std::array<std::byte, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = std::byte{values[i]};
  return out;
}

TEST(TraceEvent, says_which_rule_took_which_packet) {
  Message message = event();
  put_number(message, NFTA_TRACE_TYPE, NFT_TRACETYPE_RULE);
  message.put_u64(NFTA_TRACE_RULE_HANDLE, htobe64(12));
  message.put_nested(NFTA_TRACE_VERDICT, [&] {
    put_number(message, NFTA_VERDICT_CODE, static_cast<std::uint32_t>(NFT_JUMP));
    message.put_text(NFTA_VERDICT_CHAIN, "reply");
  });
  put_number(message, NFTA_TRACE_MARK, 0x100);
  put_number(message, NFTA_TRACE_IIF, 4);
  put_number(message, NFTA_TRACE_NFPROTO, NFPROTO_IPV4);
  message.put_bytes(NFTA_TRACE_NETWORK_HEADER,
                    bytes({0x45, 0, 0, 29, 0, 0, 0, 0, 64, 17, 0, 0, 10, 244, 1, 7, 198, 18, 7, 9}));
  message.put_bytes(NFTA_TRACE_TRANSPORT_HEADER, bytes({0x1f, 0x90, 0x0f, 0xa0, 0, 9, 0, 0}));
  const auto seen = decoded(message);
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->family, "inet") << "the table's, not the packet's";
  EXPECT_EQ(seen->rule, 12U);
  EXPECT_EQ(text(seen->verdict), "jump reply");
  EXPECT_EQ(seen->mark, 0x100U);
  EXPECT_EQ(seen->iif, 4U);
  EXPECT_EQ(seen->header, (TracedHeader{.from = net::Address::parse("10.244.1.7").value(),
                                        .to = net::Address::parse("198.18.7.9").value(),
                                        .ip_protocol = 17,
                                        .sport = 8080,
                                        .dport = 4000}));
}

// All traces of the name space come to everybody who listens to any.
TEST(TraceEvent, what_is_no_ip_has_no_header) {
  Message arp = event();
  put_number(arp, NFTA_TRACE_TYPE, NFT_TRACETYPE_RULE);
  arp.put_bytes(NFTA_TRACE_NETWORK_HEADER,
                bytes({0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2}));
  const auto seen = decoded(arp);
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_FALSE(seen->header);
}

TEST(TraceEvent, a_later_fragment_has_no_ports) {
  Message message = event();
  put_number(message, NFTA_TRACE_TYPE, NFT_TRACETYPE_RULE);
  message.put_bytes(NFTA_TRACE_NETWORK_HEADER,
                    bytes({0x45, 0, 0, 28, 0, 7, 0, 185, 64, 17, 0, 0, 10, 244, 1, 7, 198, 18, 7, 9}));
  message.put_bytes(NFTA_TRACE_TRANSPORT_HEADER, bytes({'p', 'a', 'y', 'l', 'o', 'a', 'd', '!'}));
  const auto seen = decoded(message);
  ASSERT_TRUE(seen && seen->header);
  EXPECT_EQ(seen->header->ip_protocol, 17);
  EXPECT_EQ(seen->header->sport, 0);
  EXPECT_EQ(seen->header->dport, 0);
}

TEST(TraceEvent, the_end_of_a_chain_has_its_policy) {
  Message message = event();
  put_number(message, NFTA_TRACE_TYPE, NFT_TRACETYPE_POLICY);
  put_number(message, NFTA_TRACE_POLICY, NF_DROP);
  EXPECT_EQ(text(decoded(message)->verdict), "drop");
}

TEST(TraceEvent, what_is_cut_or_no_trace_is_refused) {
  EXPECT_FALSE(decoded(event())) << "no type";
  Message short_header = event();
  put_number(short_header, NFTA_TRACE_TYPE, NFT_TRACETYPE_RULE);
  short_header.put_bytes(NFTA_TRACE_NETWORK_HEADER, bytes({0x45, 0, 0}));
  EXPECT_FALSE(decoded(short_header));
  Message other = event(NFT_MSG_NEWRULE);
  put_number(other, NFTA_TRACE_TYPE, NFT_TRACETYPE_RULE);
  EXPECT_FALSE(decoded(other));
}

}  // namespace
}  // namespace kernel::nft
