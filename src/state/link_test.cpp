#include "state/link.h"

#include <gtest/gtest.h>

namespace state {
namespace {

Link link_of(std::string_view text) {
  return parse_link(text).value();
}

TEST(Link, text_has_the_words_of_ip_link) {
  for (const auto* line : {"eth0.5 link eth0 mtu 1400 up alias iprule:a/b type vlan protocol 802.1Q id 5",
                           "outer link eth0 type vlan protocol 802.1ad id 4094", "red up type vrf table 10",
                           "d0 master red mtu 1500 type dummy", "eth0 mtu 1500 up"}) {
    EXPECT_EQ(text(link_of(line)), line);
  }
}

TEST(Link, wrong_text_is_refused_with_the_field) {
  const auto message = [](std::string_view text) { return parse_link(text).error().message(); };
  EXPECT_EQ(message("eth0 type bridge"), "type: \"bridge\" is not understood");
  EXPECT_EQ(message("eth0 type vlan id 65536"), "id: \"65536\" is not understood");
  EXPECT_EQ(message("eth0 type vlan protocol 802.1x"), "protocol: \"802.1x\" is not understood");
  EXPECT_EQ(message("eth0 mtu"), "mtu: has no value");
  EXPECT_EQ(message("eth0 colour red"), "\"colour\" is no word of a link");
  EXPECT_FALSE(parse_link("a/b"));
  EXPECT_FALSE(parse_link(""));
}

TEST(Link, what_cannot_be_is_refused_with_the_field) {
  const auto refusal = [](std::string_view text) {
    const auto status = validate(link_of(text));
    return status ? std::string("accepted") : status.error().message();
  };
  EXPECT_EQ(refusal("eth0.5 link eth0 type vlan id 5 alias iprule:x"), "accepted");
  EXPECT_EQ(refusal("eth0.5 link eth0 type vlan id 5"), "alias: does not begin with iprule:");
  EXPECT_EQ(refusal("eth0.5 link eth0 type vlan id 0 alias iprule:x"), "id: 0 is not from 1 to 4094");
  EXPECT_EQ(refusal("eth0.5 link eth0 type vlan id 4095 alias iprule:x"), "id: 4095 is not from 1 to 4094");
  EXPECT_EQ(refusal("eth0.5 type vlan id 5 alias iprule:x"), "link: a vlan needs a link below it");
  EXPECT_EQ(refusal("eth0 link eth0 type vlan id 5 alias iprule:x"), "link: a vlan cannot be on itself");
  EXPECT_EQ(refusal("red type vrf alias iprule:x"), "table: missing");
  EXPECT_EQ(refusal("red type vrf table 254 alias iprule:x"), "table: 254 is the kernel's own");
  EXPECT_EQ(refusal("red type vrf table 10 alias iprule:x"), "accepted");
  EXPECT_EQ(refusal("d0 type dummy table 5 alias iprule:x"), "table: only for a vrf");
  EXPECT_EQ(refusal("d0 mtu 67 type dummy alias iprule:x"), "mtu: 67 is not from 68 to 65575");
  EXPECT_EQ(refusal("d0 mtu 65576 type dummy alias iprule:x"), "mtu: 65576 is not from 68 to 65575");
  EXPECT_EQ(refusal("d0 mtu 9000 type dummy alias iprule:x"), "accepted");
  EXPECT_EQ(refusal("d0 type dummy id 5 alias iprule:x"), "id: only for a vlan");
  EXPECT_EQ(refusal("d0 master d0 type dummy alias iprule:x"), "master: a link cannot be in itself");
  EXPECT_EQ(refusal("eth0 alias iprule:x"), "type: is none that can be made");
}

TEST(Link, alias_tells_whose_it_is) {
  EXPECT_EQ(own_alias("node/a"), "iprule:node/a");
  EXPECT_EQ(owner_of("iprule:node/a"), "node/a");
  EXPECT_FALSE(owner_of("uplink to rack 3"));
  EXPECT_FALSE(owner_of("iprule"));
}

TEST(Link, mtu_that_was_not_asked_for_may_be_any) {
  EXPECT_TRUE(satisfies(link_of("d0 mtu 1500 up type dummy"), link_of("d0 up type dummy")));
  EXPECT_FALSE(satisfies(link_of("d0 mtu 1500 up type dummy"), link_of("d0 mtu 1400 up type dummy")));
  EXPECT_FALSE(satisfies(link_of("d0 mtu 1500 type dummy"), link_of("d0 up type dummy")));
}

}  // namespace
}  // namespace state
