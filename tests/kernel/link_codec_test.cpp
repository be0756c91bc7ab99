#include <algorithm>
#include <cerrno>

#include "kernel/rtnl/link.h"
#include "testbed/machine.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

// VLAN, VRF and dummy need a kernel that has them: the machine's own may not, User-mode Linux does.
class LinkCodec : public RouteWorld {
 protected:
  static state::Link link_of(std::string_view text) {
    const auto link = state::parse_link(text).value();
    EXPECT_TRUE(validate(link)) << text;
    return link;
  }
  base::Status add(std::string_view text) { return add_link(socket(), link_of(text), links()); }

  state::ObservedLink seen(std::string_view name) {
    const auto links = read_links(socket()).value();
    for (const auto& one : links) {
      if (one.link.name.text() == name) return one;
    }
    return {};
  }
  bool exists(std::string_view name) { return seen(name).index != 0; }
};

TEST_F(LinkCodec, links_of_others_are_read_with_what_they_report) {
  run("ip link set eth0 alias 'to the rack' mtu 1400; ip link set far1 down");
  const auto eth0 = seen("eth0");
  EXPECT_EQ(text(eth0.link), "eth0 mtu 1400 up alias to the rack");
  EXPECT_TRUE(eth0.carrier);
  EXPECT_EQ(eth0.bond, state::BondMember::none);
  EXPECT_FALSE(seen("eth1").carrier);
  EXPECT_FALSE(seen("far1").link.up);
  EXPECT_EQ(links().index_of(eth0.link.name), eth0.index);
}

TEST_F(LinkCodec, foreign_link_can_be_neither_changed_nor_removed) {
  const auto eth0 = seen("eth0");
  EXPECT_EQ(encode_remove(eth0).error().fault(), base::Fault::bug);
  EXPECT_EQ(encode_set(eth0, link_of("eth0 type dummy alias iprule:x"), links()).error().fault(), base::Fault::bug);
  state::Link unmarked = link_of("d0 type dummy alias iprule:x");
  unmarked.alias = "mine";
  EXPECT_EQ(encode_add(unmarked, links()).error().fault(), base::Fault::bug);
}

TEST_F(LinkCodec, own_link_is_set_and_removed_by_index) {
  run("ip link set eth0 alias iprule:test");
  auto own = seen("eth0");
  state::Link desired = own.link;
  desired.mtu = 1300;
  desired.up = false;
  ASSERT_TRUE(socket().transact(encode_set(own, desired, links()).value()));
  EXPECT_EQ(text(seen("eth0").link), "eth0 mtu 1300 alias iprule:test");
  ASSERT_TRUE(socket().transact(encode_remove(own).value()));
  EXPECT_FALSE(exists("eth0"));
  EXPECT_EQ(socket().transact(encode_remove(own).value()).error().errno_value(), ENODEV);
  own.index = 0;
  EXPECT_EQ(encode_remove(own).error().fault(), base::Fault::bug);
}

TEST_F(LinkCodec, kernel_takes_no_alias_when_a_link_is_made) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.put_text(IFLA_IFNAME, "v0");
  message.put_text(IFLA_IFALIAS, "iprule:x");
  message.put_nested(IFLA_LINKINFO, [&] { message.put_text(IFLA_INFO_KIND, "veth"); });
  ASSERT_TRUE(socket().transact(std::move(message)));
  EXPECT_EQ(seen("v0").link.alias, "") << "so create and mark go out in one send";
}

TEST_F(LinkCodec, vlan_is_made_marked_read_and_removed) {
  const std::string line = "eth0.5 link eth0 mtu 1400 up alias iprule:n/a type vlan protocol 802.1Q id 5";
  SKIP_UNLESS_MACHINE_HAS("vlan");
  ASSERT_TRUE(add(line));
  const auto own = seen("eth0.5");
  EXPECT_EQ(text(own.link), line);
  EXPECT_EQ(own.opaque, "");
  EXPECT_EQ(add(line).error().errno_value(), EEXIST);
  ASSERT_TRUE(socket().transact(encode_remove(own).value()));
  EXPECT_FALSE(exists("eth0.5"));
}

TEST_F(LinkCodec, vlan_in_vlan_with_802_1ad_outside) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  ASSERT_TRUE(add("outer link eth0 up alias iprule:x type vlan protocol 802.1ad id 100"));
  ASSERT_TRUE(add("inner link outer up alias iprule:x type vlan protocol 802.1Q id 7"));
  EXPECT_TRUE(
      satisfies(seen("outer").link, link_of("outer link eth0 up alias iprule:x type vlan protocol 802.1ad id 100")));
  EXPECT_TRUE(satisfies(seen("inner").link, link_of("inner link outer up alias iprule:x type vlan id 7")));
}

TEST_F(LinkCodec, second_vlan_of_one_id_on_one_parent_is_refused) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  ASSERT_TRUE(add("a link eth0 alias iprule:x type vlan id 5"));
  EXPECT_EQ(add("b link eth0 alias iprule:x type vlan id 5").error().errno_value(), EEXIST);
  EXPECT_FALSE(exists("b"));
}

TEST_F(LinkCodec, vlan_with_settings_we_do_not_know_is_opaque) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  ASSERT_TRUE(add("a link eth0 alias iprule:x type vlan id 5"));
  run("ip link set dev a type vlan egress-qos-map 1:2");
  EXPECT_EQ(seen("a").opaque, "vlan attribute 3");
}

TEST_F(LinkCodec, vlan_over_a_missing_parent_is_absent) {
  const auto made = encode_add(link_of("a link eth9 alias iprule:x type vlan id 5"), links());
  EXPECT_EQ(made.error().fault(), base::Fault::absent);
}

TEST_F(LinkCodec, G8_vlan_stays_with_its_mark_when_it_cannot_go_up) {
  run("ip link set eth0 down");
  SKIP_UNLESS_MACHINE_HAS("vlan");
  const auto added = add("a link eth0 up alias iprule:x type vlan id 5");
  EXPECT_EQ(added.error().errno_value(), ENETDOWN);
  EXPECT_EQ(seen("a").link.alias, "iprule:x");
  EXPECT_FALSE(seen("a").link.up);
}

TEST_F(LinkCodec, vrf_and_its_member) {
  SKIP_UNLESS_MACHINE_HAS("vrf");
  ASSERT_TRUE(add("red up alias iprule:x type vrf table 10"));
  EXPECT_EQ(seen("red").link.table, 10);
  SKIP_UNLESS_MACHINE_HAS("dummy");
  ASSERT_TRUE(add("d0 master red up alias iprule:x type dummy"));
  EXPECT_EQ(seen("d0").link.master.text(), "red");
  auto alone = link_of("d0 up alias iprule:x type dummy");
  ASSERT_TRUE(socket().transact(encode_set(seen("d0"), alone, links()).value()));
  EXPECT_TRUE(seen("d0").link.master.empty());
}

TEST_F(LinkCodec, member_of_a_bond_says_whether_it_is_in_use) {
  SKIP_UNLESS_MACHINE_HAS("bond");
  run("ip link add bond9 type bond mode active-backup");
  run("ip link set eth0 down; ip link set eth0 master bond9; ip link set bond9 up");
  const auto member = seen("eth0");
  EXPECT_NE(member.bond, state::BondMember::none);
  EXPECT_EQ(member.link.master.text(), "bond9");
}

}  // namespace
}  // namespace kernel::rtnl
