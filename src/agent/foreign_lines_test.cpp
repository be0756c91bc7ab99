#include "agent/foreign_lines.h"

#include <vector>

#include <gtest/gtest.h>

namespace agent {
namespace {

TEST(ForeignLines, rules_in_scope_are_named_each_on_its_line_and_many_are_counted) {
  std::vector<state::Rule> rules;
  EXPECT_EQ(foreign_lines(rules, 2), "");
  for (const char* text : {"900: from 10.96.7.7 lookup 100", "901: from 10.96.7.8 lookup 100 proto static"}) {
    rules.push_back(state::parse_rule(net::Family::v4, text).value());
  }
  const std::string first = "\nforeign rule in scope: 900: from 10.96.7.7 lookup 100";
  const std::string second = "\nforeign rule in scope: 901: from 10.96.7.8 lookup 100 proto static";
  EXPECT_EQ(foreign_lines(rules, 2), first + second);
  EXPECT_EQ(foreign_lines(rules, 1), first + "\nand 1 more, with ?verbose");
}

}  // namespace
}  // namespace agent
