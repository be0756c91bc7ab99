#include "plan/adoption.h"

#include <gtest/gtest.h>

#include "plan/diff.h"

namespace plan {
namespace {

state::Rule rule(const std::string& text) {
  return state::parse_rule(net::Family::v4, text).value();
}

Heirloom from(const std::string& source, std::optional<std::uint32_t> priority = 1000) {
  return {.source = net::Address::parse(source).value(), .table = 100, .priority = priority};
}

std::vector<std::string> adopted_of(const std::vector<Heirloom>& heirlooms, const std::vector<std::string>& observed) {
  state::NetState seen;
  for (const std::string& text : observed) seen.rules.push_back(rule(text));
  std::vector<std::string> out;
  for (const state::Rule& one : adopted(heirlooms, seen, {})) out.push_back(state::text(one));
  return out;
}
using Texts = std::vector<std::string>;

TEST(Adoption, exactly_the_rule_of_a_published_object_without_protocol_is_adopted) {
  EXPECT_EQ(adopted_of({from("10.0.0.7")}, {"1000: from 10.0.0.7 lookup 100"}),
            Texts{"1000: from 10.0.0.7 lookup 100"});
  for (const char* other :
       {"1000: from 10.0.0.8 lookup 100", "1000: from 10.0.0.7 lookup 101", "1001: from 10.0.0.7 lookup 100",
        "1000: from 10.0.0.7 lookup 100 proto static", "1000: from 10.0.0.7 fwmark 0x1 lookup 100",
        "1000: from 10.0.0.7 iif eth0 lookup 100", "1000: from 10.0.0.0/24 lookup 100",
        "1000: from 10.0.0.7 to 10.1.0.0/16 lookup 100", "1000: not from 10.0.0.7 lookup 100"}) {
    EXPECT_EQ(adopted_of({from("10.0.0.7")}, {other}), Texts{}) << other;
  }
}

TEST(Adoption, D27_without_a_priority_it_may_stand_anywhere_before_main) {
  EXPECT_EQ(adopted_of({from("10.0.0.7", {})}, {"999: from 10.0.0.7 lookup 100", "32765: from 10.0.0.7 lookup 100",
                                                "32766: from 10.0.0.7 lookup 100"}),
            (Texts{"999: from 10.0.0.7 lookup 100", "32765: from 10.0.0.7 lookup 100"}));
}

TEST(Adoption, D20_a_rule_behind_somebody_elses_that_would_go_in_its_place_is_left) {
  const std::string legacy = "1000: from 10.0.0.7 lookup 100";
  for (const char* first : {"1000: from 10.0.0.7 fwmark 0x1 lookup 100", "1000: from 10.0.0.7 lookup 100 proto static",
                            "1000: from 10.0.0.7 iif eth0 lookup 100"}) {
    EXPECT_EQ(adopted_of({from("10.0.0.7")}, {first, legacy}), Texts{}) << first;
    EXPECT_EQ(adopted_of({from("10.0.0.7")}, {legacy, first}), Texts{legacy}) << first;
  }
  EXPECT_EQ(adopted_of({from("10.0.0.7")}, {legacy + " proto 183", legacy}), Texts{legacy})
      << "ours may go: it comes back behind it";
}

TEST(Adoption, ours_is_added_before_the_old_one_goes) {
  state::NetState seen{.rules = {rule("1000: from 10.0.0.7 lookup 100")}};
  const state::NetState desired{.rules = {rule("1000: from 10.0.0.7 lookup 100 proto 183")}};
  Ownership ownership;
  ownership.adopted = adopted(std::vector{from("10.0.0.7")}, seen, ownership);
  const Plan plan = diff(state::Verified{.state = seen}, desired, ownership);
  EXPECT_EQ(text(plan),
            "add IPv4 rule 1000: from 10.0.0.7 lookup 100 proto 183\n"
            "remove IPv4 rule 1000: from 10.0.0.7 lookup 100\n");
}

}  // namespace
}  // namespace plan
