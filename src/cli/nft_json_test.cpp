#include "cli/nft_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;

// As nft 1.0.6 prints them; its chains that are the same everywhere are cut to what is looked at.
constexpr std::string_view kFixed = R"({"metainfo":{"version":"1.0.6"}},{"table":{"family":"inet","name":"iprule"}},
{"chain":{"family":"inet","table":"iprule","name":"out","type":"route","hook":"output","prio":-150,"policy":"accept"}},
{"rule":{"family":"inet","table":"iprule","chain":"out","expr":[{"jump":{"target":"reply"}}]}},
{"chain":{"family":"inet","table":"iprule","name":"pre","type":"filter","hook":"prerouting","prio":-150,"policy":"accept"}},
{"rule":{"family":"inet","table":"iprule","chain":"pre"}},{"rule":{"family":"inet","table":"iprule","chain":"pre"}},
{"rule":{"family":"inet","table":"iprule","chain":"pre"}},
{"chain":{"family":"inet","table":"iprule","name":"reply"}},
{"rule":{"family":"inet","table":"iprule","chain":"reply"}},{"rule":{"family":"inet","table":"iprule","chain":"reply"}},
{"rule":{"family":"inet","table":"iprule","chain":"reply"}},{"rule":{"family":"inet","table":"iprule","chain":"reply"}},
{"map":{"family":"inet","name":"src6","table":"iprule","type":"ipv6_addr","map":"verdict"}},
{"map":{"family":"inet","name":"vip4","table":"iprule","type":"ipv4_addr","map":"verdict"}},
{"set":{"family":"inet","name":"own6","table":"iprule","type":"ipv6_addr","flags":["interval"]}},
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

std::string without(std::string text, std::string_view line) {
  const auto at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.erase(at, text.find("}},", at) + 3 - at);
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NftJson, a_table_that_lacks_a_part_is_not_right) {
  const std::string whole = std::string(kFixed) + std::string(kClasses);
  EXPECT_THAT(parse(without(whole, R"({"set":{"family":"inet","name":"own6")")).strange,
              ElementsAre("set own6 is missing"));
  std::string headless = without(whole, R"({"chain":{"family":"inet","table":"iprule","name":"out")");
  headless = without(headless, R"({"rule":{"family":"inet","table":"iprule","chain":"out")");
  EXPECT_THAT(parse(headless).strange, ElementsAre("chain out is missing"));
}

TEST(NftJson, a_part_that_is_otherwise_is_named) {
  const std::string whole = std::string(kFixed) + std::string(kClasses);
  EXPECT_THAT(parse(with(whole, R"("name":"iprule"}})", R"("name":"iprule","flags":["dormant"]}})")).strange,
              ElementsAre("the table has flags"));
  EXPECT_THAT(parse(with(whole, R"("hook":"prerouting")", R"("hook":"forward")")).strange,
              ElementsAre("chain pre is at another place"));
  EXPECT_THAT(parse(with(whole, R"("prio":-150,"policy":"accept")", R"("prio":-150,"policy":"drop")")).strange,
              ElementsAre("chain out is at another place"));
  EXPECT_THAT(
      parse(with(whole, R"("name":"vip4","table":"iprule",)", R"("name":"vip4","table":"iprule","size":9,)")).strange,
      ElementsAre("set vip4 is of another type"));
  EXPECT_THAT(parse(whole + R"(,{"counter":{"family":"inet","table":"iprule","name":"mine"}},
      {"set":{"family":"inet","table":"iprule","name":"mine"}})")
                  .strange,
              ElementsAre("counter mine", "set mine"));
}

TEST(NftJson, an_element_that_leads_to_a_class_of_another_kind_is_named) {
  const std::string whole = std::string(kFixed) + std::string(kClasses);
  EXPECT_THAT(parse(with(whole, R"({"target":"source01"})", R"({"target":"reply02"})")).strange,
              ElementsAre("element 10.96.23.17 : goto reply02"));
}

TEST(NftJson, what_cannot_be_read_is_named_with_its_place) {
  const auto dumped = parse_nft_table(R"({"nftables":[{"map":{"family":"inet","table":"iprule","name":"src4",
      "type":"ipv4_addr","map":"verdict","elem":[["10.0.0.1",{"accept":null}]]}}]})");
  ASSERT_FALSE(dumped);
  EXPECT_THAT(dumped.error().message(), testing::HasSubstr("nftables[0].map.elem[0]"));
}

}  // namespace
}  // namespace cli
