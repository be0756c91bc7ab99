#include <cerrno>

#include "kernel/rtnl/address.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using Lines = std::vector<std::string>;

class AddressCodec : public RouteWorld {
 protected:
  base::Status add(std::string_view text) { return socket().transact(encode_add(address_of(text), links()).value()); }
  base::Status remove(std::string_view text) {
    return socket().transact(encode_remove(address_of(text), links()).value());
  }
  static state::InterfaceAddress address_of(std::string_view text) {
    const auto address = state::parse_address(text).value();
    EXPECT_TRUE(validate(address)) << text;
    return address;
  }

  // The texts of all addresses of eth1, in the kernel's order.
  Lines addresses(net::Family family) {
    Lines out;
    const LinkTable names = links();
    EXPECT_TRUE(socket().dump(encode_address_dump(family), [&](const Received& message) -> base::Status {
      const auto decoded = TRY(decode_address(message, names));
      const auto line = std::visit([](const auto& one) { return text(one); }, decoded);
      if (line.find("dev eth1") != line.npos && line.find("fe80:") == line.npos) out.push_back(line);
      return {};
    }));
    return out;
  }
};

TEST_F(AddressCodec, every_address_is_added_read_found_there_and_removed) {
  const Lines lines4 = {"192.0.2.7/24 dev eth1 proto 183", "192.0.2.7/32 dev eth1 scope host proto 183",
                        "192.0.2.7/24 brd 192.0.2.255 dev eth1 label eth1:vip metric 70 noprefixroute proto 183",
                        "192.0.2.7 peer 192.0.2.8/32 dev eth1 proto 183",
                        "192.0.2.7/24 dev eth1 preferred_lft 0 proto 183"};
  const Lines lines6 = {"2001:db8::7/64 dev eth1 nodad proto 183", "2001:db8::7/128 dev eth1 noprefixroute proto 183",
                        "2001:db8::7/64 dev eth1 metric 70 nodad preferred_lft 0 proto 183",
                        "2001:db8::7 peer 2001:db8::8/128 dev eth1 nodad proto 183"};
  run("ip addr del 10.0.1.2/24 dev eth1; ip addr del fd00:1::2/64 dev eth1");
  for (const auto& [family, lines] : {std::pair(v4, lines4), std::pair(v6, lines6)}) {
    for (const std::string& line : lines) {
      const auto added = add(line);
      ASSERT_TRUE(added) << line << ": " << added.error().message();
      EXPECT_EQ(addresses(family), Lines{line});
      EXPECT_EQ(add(line).error().errno_value(), EEXIST) << line;
      EXPECT_TRUE(remove(line)) << line;
      EXPECT_EQ(addresses(family), Lines{}) << line;
      EXPECT_EQ(remove(line).error().errno_value(), EADDRNOTAVAIL) << line;
    }
  }
}

TEST_F(AddressCodec, lease_of_somebody_is_opaque) {
  run("ip addr add 192.0.2.9/24 dev eth1 valid_lft 600 preferred_lft 300");
  EXPECT_EQ(addresses(v4).back(), "192.0.2.9 (lifetime) dev eth1 proto 0");
}

TEST_F(AddressCodec, protocol_of_the_kernels_own_addresses_is_read) {
  Lines protocols;
  const LinkTable names = links();
  ASSERT_TRUE(socket().dump(encode_address_dump(v6), [&](const Received& message) -> base::Status {
    const auto decoded = TRY(decode_address(message, names));
    const auto* address = std::get_if<state::InterfaceAddress>(&decoded);
    if (address != nullptr && address->dev.text() == "lo") protocols.push_back(std::to_string(address->protocol));
    return {};
  }));
  EXPECT_EQ(protocols, Lines{"1"}) << "IFAPROT_KERNEL_LO: this kernel knows who made an address";
}

TEST_F(AddressCodec, delete_does_not_compare_the_protocol) {
  run("ip addr add 192.0.2.9/24 dev eth1");
  EXPECT_TRUE(remove("192.0.2.9/24 dev eth1 proto 183")) << "so it is sent only for what was read and is ours";
}

TEST_F(AddressCodec, removing_a_primary_address_takes_its_secondaries_along) {
  run("echo 0 > /proc/sys/net/ipv4/conf/all/promote_secondaries || true");
  ASSERT_TRUE(add("192.0.2.7/24 dev eth1 proto 183"));
  run("ip addr add 192.0.2.8/24 dev eth1");
  ASSERT_TRUE(remove("192.0.2.7/24 dev eth1 proto 183"));
  EXPECT_EQ(addresses(v4), Lines{"10.0.1.2/24 dev eth1"});
}

TEST_F(AddressCodec, same_ipv6_address_with_another_length_is_refused) {
  ASSERT_TRUE(add("2001:db8::7/64 dev eth1 nodad proto 183"));
  EXPECT_EQ(add("2001:db8::7/128 dev eth1 nodad proto 183").error().errno_value(), EEXIST);
  ASSERT_TRUE(add("192.0.2.7/24 dev eth1 proto 183"));
  EXPECT_TRUE(add("192.0.2.7/32 dev eth1 proto 183")) << "IPv4 tells them apart";
}

TEST_F(AddressCodec, F11_incomplete_message_cannot_be_made) {
  for (const auto* text : {"192.0.2.7/24 dev eth1", "192.0.2.7/0 dev eth1 proto 183"}) {
    EXPECT_EQ(encode_remove(state::parse_address(text).value(), links()).error().fault(), base::Fault::bug) << text;
  }
  EXPECT_EQ(encode_add(state::parse_address("192.0.2.7/24 dev eth9 proto 183").value(), links()).error().fault(),
            base::Fault::absent);
}

}  // namespace
}  // namespace kernel::rtnl
