#include "kernel/conntrack.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "kernel/netlink/message.h"

namespace kernel {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

void put_tuple(Message& message, std::uint16_t direction, std::string_view from, std::string_view to) {
  const bool v4 = ip(from).family() == net::Family::v4;
  message.put_nested(direction, [&] {
    message.put_nested(CTA_TUPLE_IP, [&] {
      message.put_address(v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, ip(from));
      message.put_address(v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, ip(to));
    });
    message.put_nested(CTA_TUPLE_PROTO, [&] { message.put_u8(CTA_PROTO_NUM, 17); });
  });
}

Message about(std::uint8_t family) {
  return Message(NFNL_SUBSYS_CTNETLINK << 8U | IPCTNL_MSG_CT_NEW, 0,
                 nfgenmsg{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0});
}

base::Result<Connection> decode(const Message& message) {
  std::span<const std::byte> bytes = message.bytes();
  return decode_connection(next_message(bytes).value());
}

TEST(Conntrack, a_translated_connection_names_who_answers) {
  Message message = about(AF_INET);
  put_tuple(message, CTA_TUPLE_ORIG, "198.18.7.9", "203.0.113.45");
  put_tuple(message, CTA_TUPLE_REPLY, "10.244.1.7", "198.18.7.9");
  message.put_u32(CTA_STATUS, 0);
  EXPECT_EQ(decode(message).value(), (Connection{ip("198.18.7.9"), ip("203.0.113.45"), ip("10.244.1.7")}));
}

TEST(Conntrack, IPv6_has_attributes_of_its_own) {
  Message message = about(AF_INET6);
  put_tuple(message, CTA_TUPLE_ORIG, "2001:db8:7::9", "2001:db8:f::10");
  put_tuple(message, CTA_TUPLE_REPLY, "fd00::7", "2001:db8:7::9");
  EXPECT_EQ(decode(message).value(), (Connection{ip("2001:db8:7::9"), ip("2001:db8:f::10"), ip("fd00::7")}));
}

TEST(Conntrack, half_a_connection_is_none) {
  Message message = about(AF_INET);
  EXPECT_FALSE(decode(message));
  put_tuple(message, CTA_TUPLE_ORIG, "198.18.7.9", "203.0.113.45");
  EXPECT_FALSE(decode(message)) << "nobody answers";
  message.put_nested(CTA_TUPLE_REPLY, [&] {
    message.put_nested(CTA_TUPLE_IP, [&] { message.put_address(CTA_IP_V4_SRC, ip("10.244.1.7")); });
  });
  EXPECT_FALSE(decode(message)) << "answers to nobody";
  EXPECT_FALSE(decode(about(AF_PACKET)));
}

}  // namespace
}  // namespace kernel
