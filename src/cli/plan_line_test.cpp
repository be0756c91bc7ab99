#include "cli/plan_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/diff.h"

namespace cli {
namespace {

std::vector<std::string> documents(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const PlanLine& line : lines_of(plan)) {
    out.push_back(json::object([&](json::Object& object) { put(object, line); }));
  }
  return out;
}

TEST(PlanLine, a_rule_has_the_fields_that_it_is_known_by) {
  const auto rule = [](std::string_view text) { return state::parse_rule(net::Family::v4, text).value(); };
  const state::Verified observed{.state = {.rules = {rule("1000: from 10.96.23.18 lookup 100 proto 183")}}};
  const auto plan =
      plan::diff(observed, {.rules = {rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")}}, {});
  EXPECT_THAT(
      documents(plan),
      testing::ElementsAre(
          R"({"do":"add","what":"IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183",)"
          R"("class":"rule","family":"IPv4","priority":1000,"table":100,"mark":"0x100/0x3f00","protocol":183})",
          R"({"do":"delete","what":"IPv4 rule 1000: from 10.96.23.18 lookup 100 proto 183",)"
          R"("class":"rule","family":"IPv4","priority":1000,"table":100,"from":"10.96.23.18/32","protocol":183})"));
}

TEST(PlanLine, an_object_of_our_nft_table_has_them_too) {
  state::NetState desired;
  desired.nft = state::NftTable{.window = 0x3f00};
  desired.nft->classes[0x100] = {.kind = state::NftClassKind::reply};
  desired.nft->vips[net::Address::parse("203.0.113.45").value()] = 0x100;
  EXPECT_THAT(
      documents(plan::diff(state::Verified(), desired, {})),
      testing::ElementsAre(
          R"({"do":"add","what":"table inet iprule","class":"nft","object":"table"})",
          R"({"do":"add","what":"chain reply01 mark 0x100/0x3f00","class":"nft","object":"chain","chain":"reply01","mark":"0x100/0x3f00"})",
          R"({"do":"add","what":"element vip4 203.0.113.45 : goto reply01","class":"nft","object":"element","map":"vip4","key":"203.0.113.45","chain":"reply01"})"));
}

}  // namespace
}  // namespace cli
