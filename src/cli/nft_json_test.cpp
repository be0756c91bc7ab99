#include "cli/nft_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;

// As nft 1.0.6 prints them; its chains that are the same everywhere are cut to what is looked at.
constexpr std::string_view kFixed = R"({"metainfo":{"version":"1.0.6"}},{"table":{"family":"inet","name":"iprule"}},
{"chain":{"family":"inet","table":"iprule","name":"out"}},
{"rule":{"family":"inet","table":"iprule","chain":"out","expr":[{"jump":{"target":"reply"}}]}},
{"table":{"family":"ip","name":"iprule"}},{"chain":{"family":"ip","table":"iprule","name":"theirs"}},
{"chain":{"family":"inet","table":"kube-proxy","name":"iprule"}})";
constexpr std::string_view kClasses = R"(,
{"map":{"family":"inet","name":"src4","table":"iprule","type":"ipv4_addr","map":"verdict",
        "elem":[["10.96.23.17",{"goto":{"target":"source01"}}]]}},
{"map":{"family":"inet","name":"vip6","table":"iprule","type":"ipv6_addr","map":"verdict",
        "elem":[["2001:db8::1",{"goto":{"target":"reply02"}}]]}},
{"set":{"family":"inet","name":"own4","table":"iprule","type":"ipv4_addr","flags":["interval"],
        "elem":[{"prefix":{"addr":"10.244.0.0","len":16}},"10.0.0.1"]}},
{"chain":{"family":"inet","table":"iprule","name":"source01"}},{"chain":{"family":"inet","table":"iprule","name":"reply02"}},
{"chain":{"family":"inet","table":"iprule","name":"both03"}},
{"rule":{"family":"inet","table":"iprule","chain":"source01","expr":[{"match":{"op":"==","left":{"&":[{"meta":{"key":"mark"}},
         16128]},"right":512}},{"goto":{"target":"both03"}}]}},
{"rule":{"family":"inet","table":"iprule","chain":"source01","expr":[{"mangle":{"key":{"meta":{"key":"mark"}},
         "value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951423]},256]}}}]}},
{"rule":{"family":"inet","table":"iprule","chain":"reply02","expr":[{"mangle":{"key":{"meta":{"key":"mark"}},
         "value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951679]},512]}}}]}},
{"rule":{"family":"inet","table":"iprule","chain":"both03","expr":[{"mangle":{"key":{"meta":{"key":"mark"}},
         "value":{"|":[{"&":[{"meta":{"key":"mark"}},4294951935]},768]}}}]}})";

DumpedTable parse(const std::string& objects) {
  auto dumped = parse_nft_table(R"({"nftables":[)" + objects + "]}");
  EXPECT_TRUE(dumped) << dumped.error().message();
  return dumped.value_or(DumpedTable());
}

TEST(NftJson, who_is_in_which_class_is_read) {
  const DumpedTable dumped = parse(std::string(kFixed) + std::string(kClasses));
  EXPECT_THAT(dumped.strange, ElementsAre());
  ASSERT_TRUE(dumped.table);
  const state::NftTable wanted{
      .window = 0x3f00,
      .classes = {{0x100, {.kind = state::NftClassKind::source, .joins = {{0x200, 0x300}}}},
                  {0x200, {.kind = state::NftClassKind::reply}},
                  {0x300, {.kind = state::NftClassKind::both}}},
      .sources = {{net::Address::parse("10.96.23.17").value(), 0x100}},
      .vips = {{net::Address::parse("2001:db8::1").value(), 0x200}},
      .own = {net::Prefix::parse("10.244.0.0/16").value(), net::Prefix::parse("10.0.0.1/32").value()}};
  EXPECT_EQ(*dumped.table, wanted);
}

TEST(NftJson, a_dump_without_our_table_has_none) {
  EXPECT_FALSE(parse(R"({"table":{"family":"inet","name":"kube-proxy"}})").table);
}

TEST(NftJson, what_we_would_not_have_made_is_named) {
  const DumpedTable dumped = parse(std::string(kFixed) + std::string(kClasses) + R"(,
{"chain":{"family":"inet","table":"iprule","name":"mine"}},
{"rule":{"family":"inet","table":"iprule","chain":"out","expr":[{"drop":null}]}},
{"rule":{"family":"inet","table":"iprule","chain":"source01","expr":[{"match":{"op":"==","left":{"&":[{"meta":{"key":"mark"}},
         255]},"right":7}},{"goto":{"target":"both03"}}]}},
{"rule":{"family":"inet","table":"iprule","chain":"reply02","expr":[{"drop":null}]}})");
  EXPECT_THAT(dumped.strange, ElementsAre(R"(a rule in chain reply02: [{"drop":null}])", "chain mine",
                                          "chain out has 2 rules, not 1", "chain source01 goes to both03"));
}

TEST(NftJson, what_cannot_be_read_is_named_with_its_place) {
  const auto dumped = parse_nft_table(R"({"nftables":[{"map":{"family":"inet","table":"iprule","name":"src4",
      "elem":[["10.0.0.1",{"accept":null}]]}}]})");
  ASSERT_FALSE(dumped);
  EXPECT_THAT(dumped.error().message(), testing::HasSubstr("nftables[0].map.elem[0]"));
}

}  // namespace
}  // namespace cli
