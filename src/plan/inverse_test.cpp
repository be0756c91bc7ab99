#include "plan/inverse.h"

#include <gtest/gtest.h>

namespace plan {
namespace {

state::Route route(std::string_view text) {
  return state::parse_route(net::Family::v4, text).value();
}

TEST(Inverse, leads_back_in_the_opposite_order) {
  Plan plan;
  plan.ops.emplace_back(Replace<state::Route>{.from = route("default via 10.0.0.1 dev eth0 table 7 proto 183"),
                                              .to = route("default via 10.0.0.9 dev eth0 table 7 proto 183")});
  plan.ops.emplace_back(Add<state::Route>{route("10.0.0.0/8 dev eth0 table 7 proto 183")});
  plan.ops.emplace_back(AddRule{state::parse_rule(net::Family::v4, "5: from all lookup 7 proto 183").value()});
  plan.ops.emplace_back(Remove<state::Route>{route("11.0.0.0/8 dev eth0 table 7 proto 183")});
  EXPECT_EQ(text(inverse(plan)),
            "add IPv4 route 11.0.0.0/8 dev eth0 table 7 proto 183\n"
            "remove IPv4 rule 5: from all lookup 7 proto 183\n"
            "remove IPv4 route 10.0.0.0/8 dev eth0 table 7 proto 183\n"
            "replace IPv4 route default via 10.0.0.9 dev eth0 table 7 proto 183\n"
            "     to default via 10.0.0.1 dev eth0 table 7 proto 183\n");
  EXPECT_EQ(inverse(inverse(plan)).ops, plan.ops);
}

TEST(Inverse, leaves_out_what_cannot_be_taken_back) {
  Plan plan;
  plan.ops.emplace_back(Add<state::Link>{state::parse_link("d0 alias iprule:x type dummy").value()});
  plan.ops.emplace_back(RemoveOpaqueRule{});
  EXPECT_TRUE(inverse(plan).empty());
}

}  // namespace
}  // namespace plan
