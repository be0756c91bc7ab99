#include "kernel/nft/decode.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernel::nft {
namespace {

using state::NftClassKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// As nft 1.0.6 prints it.
constexpr std::string_view kListing =
    R"({"nftables":[)"
    R"({"metainfo":{"version":"1.0.6","release_name":"Lester Gooch #5","json_schema_version":1}},)"
    R"({"table":{"family":"inet","name":"iprule","handle":1}},)"
    R"({"map":{"family":"inet","name":"src4","table":"iprule","type":"ipv4_addr","handle":1,"map":"verdict","elem":[["10.0.0.1",{"goto":{"target":"source01"}}]]}},)"
    R"({"map":{"family":"inet","name":"src6","table":"iprule","type":"ipv6_addr","handle":1,"map":"verdict","elem":[["fd00::1",{"goto":{"target":"source01"}}]]}},)"
    R"({"map":{"family":"inet","name":"vip4","table":"iprule","type":"ipv4_addr","handle":1,"map":"verdict","elem":[["203.0.113.1",{"goto":{"target":"reply02"}}]]}},)"
    R"({"map":{"family":"inet","name":"vip6","table":"iprule","type":"ipv6_addr","handle":1,"map":"verdict"}},)"
    R"({"set":{"family":"inet","name":"own4","table":"iprule","type":"ipv4_addr","handle":1,"flags":["interval"],"elem":[{"prefix":{"addr":"10.244.0.0","len":16}},"192.168.1.5"]}},)"
    R"({"set":{"family":"inet","name":"own6","table":"iprule","type":"ipv6_addr","handle":1,"flags":["interval"]}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"both03","handle":1}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"reply02","handle":1}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"source01","handle":1}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"reply","handle":1}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"pre","handle":1,"type":"filter","hook":"prerouting","prio":-150,"policy":"accept"}},)"
    R"({"chain":{"family":"inet","table":"iprule","name":"out","handle":1,"type":"route","hook":"output","prio":-150,"policy":"accept"}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"both03","handle":1,"expr":[{"mangle":{"key":{"meta":{"key":"mark"}},"value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951935]},768]}}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"reply02","handle":1,"expr":[{"mangle":{"key":{"meta":{"key":"mark"}},"value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951679]},512]}}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"source01","handle":1,"expr":[{"match":{"op":"==","left":{"&":[{"meta":{"key":"mark"}},16128]},"right":512}},{"goto":{"target":"both03"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"source01","handle":1,"expr":[{"mangle":{"key":{"meta":{"key":"mark"}},"value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951423]},256]}}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"reply","handle":1,"expr":[{"match":{"op":"==","left":{"ct":{"key":"ip saddr","dir":"original"}},"right":"@own4"}},{"return":null}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"reply","handle":1,"expr":[{"match":{"op":"==","left":{"ct":{"key":"ip6 saddr","dir":"original"}},"right":"@own6"}},{"return":null}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"reply","handle":1,"expr":[{"vmap":{"key":{"ct":{"key":"ip daddr","dir":"original"}},"data":"@vip4"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"reply","handle":1,"expr":[{"vmap":{"key":{"ct":{"key":"ip6 daddr","dir":"original"}},"data":"@vip6"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"pre","handle":1,"expr":[{"match":{"op":"==","left":{"ct":{"key":"direction"}},"right":"reply"}},{"jump":{"target":"reply"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"pre","handle":1,"expr":[{"vmap":{"key":{"payload":{"protocol":"ip","field":"saddr"}},"data":"@src4"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"pre","handle":1,"expr":[{"vmap":{"key":{"payload":{"protocol":"ip6","field":"saddr"}},"data":"@src6"}}]}},)"
    R"({"rule":{"family":"inet","table":"iprule","chain":"out","handle":1,"expr":[{"match":{"op":"==","left":{"ct":{"key":"direction"}},"right":"reply"}},{"jump":{"target":"reply"}}]}})"
    R"(]})";

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
net::Prefix prefix(std::string_view text) {
  return net::Prefix::parse(text).value();
}

std::string with(std::string_view from, std::string_view to) {
  std::string out(kListing);
  const auto at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return out.replace(at, from.size(), to);
}

std::vector<std::string> strange(const std::string& listing) {
  return decode_table(listing).value().strange;
}

TEST(NftDecode, table_is_read_by_meaning) {
  const auto observed = decode_table(kListing).value();
  EXPECT_THAT(observed.strange, IsEmpty());
  const state::NftTable expected{
      .window = 0x3f00,
      .classes = {{0x100, {.kind = NftClassKind::source, .joins = {{0x200, 0x300}}}},
                  {0x200, {.kind = NftClassKind::reply}},
                  {0x300, {.kind = NftClassKind::both}}},
      .sources = {{ip("10.0.0.1"), 0x100}, {ip("fd00::1"), 0x100}},
      .vips = {{ip("203.0.113.1"), 0x200}},
      .own = {prefix("10.244.0.0/16"), prefix("192.168.1.5/32")},
  };
  EXPECT_EQ(observed.table, expected);
}

TEST(NftDecode, mask_means_the_same_in_each_of_its_forms) {
  // 0xffffc0ff instead of 0xffffc3ff: the bits that are set afterwards may be cleared before or not.
  EXPECT_THAT(strange(with("4294951935", "4294951167")), IsEmpty());
  EXPECT_THAT(strange(with(R"({"|":[{"&":[{"meta":{"key":"mark"}},4294951935]},768]})",
                           R"({"^":[{"&":[{"meta":{"key":"mark"}},4294951167]},768]})")),
              IsEmpty());
  EXPECT_THAT(strange(with(R"({"|":[{"&":[{"meta":{"key":"mark"}},4294951935]},768]})",
                           R"({"|":[{"meta":{"key":"mark"}},768]})")),
              Not(IsEmpty()));  // Sets two bits and leaves the others of the window as they are.
  EXPECT_THAT(strange(with(R"("key":"ip saddr","dir")", R"("family":"ip","key":"saddr","dir")")), IsEmpty());
}

TEST(NftDecode, whatever_is_not_of_our_making_is_named) {
  EXPECT_THAT(strange(with(R"("name":"iprule","handle":1)", R"("name":"iprule","handle":1,"flags":"dormant")")),
              ElementsAre("the table has flags"));
  EXPECT_THAT(strange(with(R"({"metainfo":)", R"({"counter":{"name":"x"}},{"metainfo":)")), ElementsAre("a counter"));
  EXPECT_THAT(strange(with(R"({"metainfo":)", R"({"set":{"name":"x"}},{"metainfo":)")), ElementsAre("set x"));
  EXPECT_THAT(strange(with(R"("type":"ipv4_addr")", R"("type":"ipv4_addr","timeout":5)")),
              ElementsAre("set src4 is of another type"));
  EXPECT_THAT(strange(with(R"(["10.0.0.1",{"goto")", R"(["10.0.0.1",{"jump")")),
              ElementsAre(R"(element ["10.0.0.1",{"jump":{"target":"source01"}}] of src4)"));
  EXPECT_THAT(strange(with(R"("prio":-150)", R"("prio":0)")), ElementsAre("chain pre is at another place"));
  EXPECT_THAT(strange(with(R"("policy":"accept")", R"("policy":"drop")")),
              ElementsAre("chain pre is at another place"));
  EXPECT_THAT(strange(with(R"("right":"@own4")", R"("right":"@own6")")),
              ElementsAre("chain reply is not as we made it"));
  EXPECT_THAT(strange(with(R"({"return":null})", R"({"accept":null})")).size(), 2);
  EXPECT_THAT(strange(with("4294951935]},768", "4294951167]},1024")), ElementsAre("chain both03"));
  EXPECT_THAT(strange(with("16128", "65280")), ElementsAre("chain source01 has another rule"));
}

TEST(NftDecode, element_that_leads_to_the_wrong_chain_is_named) {
  EXPECT_THAT(
      strange(with(R"(["10.0.0.1",{"goto":{"target":"source01"}}])", R"(["10.0.0.1",{"goto":{"target":"reply02"}}])")),
      ElementsAre("element 10.0.0.1 leads to reply02"));
}

TEST(NftDecode, missing_part_is_named) {
  const auto observed =
      decode_table(R"({"nftables":[{"table":{"family":"inet","name":"iprule","handle":1}}]})").value();
  EXPECT_EQ(observed.strange.size(), 9);  // Six sets and three chains.
  EXPECT_TRUE(observed.table.has_value());
}

TEST(NftDecode, no_listing_is_an_error_and_never_an_empty_table) {
  for (const auto* text :
       {"", "{}", "[]", R"({"nftables":{}})", R"({"nftables":[7]})", R"({"nftables":[{"chain":{}}]})",
        R"({"nftables":[{"table":{"family":"inet","name":"other","handle":1}}]})"}) {
    EXPECT_FALSE(decode_table(text).has_value()) << text;
  }
}

TEST(NftDecode, a_set_without_its_table_is_an_error) {
  const auto observed = decode_table(
      R"({"nftables":[{"set":{"family":"inet","name":"own4","table":"iprule","type":"ipv4_addr","handle":5,"flags":["interval"],"elem":["10.0.0.1"]}}]})");
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error().message(), testing::HasSubstr("without their table"));
}

}  // namespace
}  // namespace kernel::nft
