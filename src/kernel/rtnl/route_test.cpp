#include "kernel/rtnl/route.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/arbitrary_route.h"

namespace kernel::rtnl {
namespace {

using state::OpaqueRoute;
using state::Route;

// eth0 to eth3 are 10 to 13, as arbitrary_route() names them.
LinkTable links() {
  LinkTable out;
  out.add(1, net::InterfaceName::parse("lo").value());
  for (std::uint32_t i = 0; i < 4; ++i) out.add(10 + i, net::InterfaceName::parse("eth" + std::to_string(i)).value());
  return out;
}

DecodedRoute decoded(const Message& message) {
  std::span<const std::byte> bytes = message.bytes();
  return decode_route(next_message(bytes).value(), links()).value();
}

Route route_of(std::string_view text, net::Family family = net::Family::v4) {
  return state::parse_route(family, text).value();
}

RC_GTEST_PROP(RouteCodec, what_is_added_replaced_and_removed_is_what_is_read, ()) {
  Route route = state::arbitrary_route();
  if (route.protocol == 0) route.protocol = 183;
  for (const auto& message :
       {encode_add(route, links()), encode_replace(route, links()), encode_remove(route, links())}) {
    RC_ASSERT(std::get<Route>(decoded(message.value())) == route);
  }
}

TEST(RouteCodec, F11_incomplete_message_cannot_be_made) {
  for (const auto* text : {"default dev eth0 table 7", "default dev eth0 table 0 proto 183", "default proto 183"}) {
    const auto message = encode_remove(route_of(text), links());
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().fault(), base::Fault::bug) << text;
    EXPECT_FALSE(encode_add(route_of(text), links()));
    EXPECT_FALSE(encode_replace(route_of(text), links()));
  }
  EXPECT_TRUE(encode_remove(route_of("default dev eth0 table 7 proto 183"), links()));
  EXPECT_TRUE(encode_remove(route_of("blackhole default table 7 proto 183"), links()));
  EXPECT_FALSE(encode_remove(OpaqueRoute{}));
}

TEST(RouteCodec, device_that_is_not_there_is_absent) {
  for (const auto* text : {"default dev eth9 proto 183", "default proto 183 nexthop dev eth0 nexthop dev eth9"}) {
    const auto message = encode_add(route_of(text), links());
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().fault(), base::Fault::absent);
    EXPECT_EQ(message.error().message(), "dev eth9: no such link");
  }
}

TEST(RouteCodec, route_with_an_unknown_attribute_is_opaque_and_keeps_its_bytes) {
  Message message = encode_add(route_of("10.0.0.0/8 dev eth0 table 7 proto 183 metric 5"), links()).value();
  message.put_u8(200, 1);
  const auto opaque = std::get<OpaqueRoute>(decoded(message));
  EXPECT_EQ(text(opaque), "10.0.0.0/8 (attribute 200) table 7 proto 183");
  EXPECT_EQ(opaque.key, key(route_of("10.0.0.0/8 dev eth0 table 7 metric 5")));
  const Message removal = encode_remove(opaque).value();
  EXPECT_EQ(removal.type(), RTM_DELROUTE);
  EXPECT_EQ(std::get<OpaqueRoute>(decoded(removal)), opaque);
}

TEST(RouteCodec, what_our_type_cannot_hold_exactly_is_opaque) {
  const auto reason = [](const Message& message) { return std::get<OpaqueRoute>(decoded(message)).reason; };
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_type = RTN_UNICAST;
  Message unknown_device(RTM_NEWROUTE, 0, header);
  unknown_device.put_u32(RTA_OIF, 99);
  EXPECT_EQ(reason(unknown_device), "device 99");

  header.rtm_dst_len = 24;
  Message host_bits(RTM_NEWROUTE, 0, header);
  host_bits.put_u32(RTA_OIF, 10);
  host_bits.put_address(RTA_DST, net::Address::parse("10.0.0.5").value());
  EXPECT_EQ(reason(host_bits), "prefix");

  header.rtm_dst_len = 0;
  header.rtm_type = RTN_NAT;
  EXPECT_EQ(reason(Message(RTM_NEWROUTE, 0, header)), "type 10");
  header.rtm_type = RTN_UNICAST;
  header.rtm_flags = RTM_F_CLONED;
  EXPECT_EQ(reason(Message(RTM_NEWROUTE, 0, header)), "flags 0x200");

  header.rtm_flags = 0;
  Message metric(RTM_NEWROUTE, 0, header);
  metric.put_u32(RTA_OIF, 10);
  metric.put_nested(RTA_METRICS, [&] { metric.put_u32(RTAX_RTT, 10); });
  EXPECT_EQ(reason(metric), "metric 4");

  Message expiring(RTM_NEWROUTE, 0, header);
  expiring.put_u32(RTA_OIF, 10);
  rta_cacheinfo info{};
  info.rta_expires = 100;
  expiring.put_struct(RTA_CACHEINFO, info);
  EXPECT_EQ(reason(expiring), "expires");
}

TEST(RouteCodec, state_of_the_link_is_no_part_of_the_route) {
  Message message(RTM_NEWROUTE, 0);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_type = RTN_UNICAST;
  header.rtm_protocol = 183;
  header.rtm_flags = RTNH_F_DEAD | RTNH_F_LINKDOWN | RTM_F_OFFLOAD;
  message.append_header(std::as_bytes(std::span(&header, 1)));
  message.put_u32(RTA_TABLE, 7);
  message.put_u32(RTA_OIF, 10);
  EXPECT_EQ(std::get<Route>(decoded(message)), route_of("default dev eth0 table 7 proto 183"));
}

TEST(RouteCodec, nexthop_object_stands_for_what_the_kernel_spells_out) {
  Message message = encode_add(route_of("default via 10.0.0.1 dev eth0 table 7 proto 183"), links()).value();
  message.put_u32(RTA_NH_ID, 5);
  EXPECT_EQ(std::get<Route>(decoded(message)), route_of("default nhid 5 table 7 proto 183"));
}

RC_GTEST_PROP(RouteCodec, cut_messages_are_never_read_past_their_end, ()) {
  Route route = state::arbitrary_route();
  route.protocol = 183;
  const Message whole = encode_add(route, links()).value();
  std::span<const std::byte> bytes = whole.bytes();
  Received received = next_message(bytes).value();
  // A copy of exactly that size, so that the sanitizer sees a read beyond it.
  const auto size = *rc::gen::inRange<std::size_t>(0, received.payload.size());
  const std::vector<std::byte> cut(received.payload.begin(), received.payload.begin() + static_cast<long>(size));
  received.payload = cut;
  const auto result = decode_route(received, links());
  RC_ASSERT(!result || size >= sizeof(rtmsg));
}

}  // namespace
}  // namespace kernel::rtnl
