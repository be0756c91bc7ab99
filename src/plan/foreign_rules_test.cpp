#include "plan/foreign_rules.h"

#include <gtest/gtest.h>

namespace plan {
namespace {

using Texts = std::vector<std::string>;

Texts found(const ForeignScope& scope, const Texts& observed) {
  state::NetState seen;
  for (const std::string& text : observed) seen.rules.push_back(state::parse_rule(net::Family::v4, text).value());
  Texts out;
  for (const state::Rule& rule : foreign_rules(scope, seen, {})) out.push_back(state::text(rule));
  return out;
}

const ForeignScope kScope{.sources = {net::Prefix::parse("10.96.0.0/16").value()}, .tables = {100}};

TEST(ForeignRules, what_has_a_source_and_a_table_of_the_scope_is_in_it_whoever_made_it) {
  const Texts stale = {"1000: from 10.96.0.7 lookup 100", "1001: from 10.96.0.8 lookup 100 proto static"};
  EXPECT_EQ(found(kScope, stale), stale);
}

TEST(ForeignRules, everything_else_is_out_of_it) {
  for (const char* other :
       {"1000: from 10.97.0.7 lookup 100", "1000: from 10.96.0.7 lookup 101", "1000: from 10.96.0.0/24 lookup 100",
        "1000: from all lookup 100", "40000: from 10.96.0.7 lookup 100", "1000: from 10.96.0.7 lookup 100 proto kernel",
        "1000: from 10.96.0.7 lookup 100 proto 183", "1000: from 10.96.0.7 fwmark 0x1 lookup 100",
        "1000: from 10.96.0.7 blackhole", "0: from 10.96.0.7 lookup 100"}) {
    EXPECT_EQ(found(kScope, {other}), Texts{}) << other;
  }
}

TEST(ForeignRules, the_kernels_own_places_are_never_in_it) {
  ForeignScope wide;
  wide.first_priority = 0;
  wide.last_priority = 0xffffffff;
  EXPECT_EQ(found(wide, {"0: from 10.96.0.7 lookup 100", "32766: from 10.96.0.7 lookup 100"}), Texts{});
}

TEST(ForeignRules, qualified_ones_only_where_that_is_said) {
  ForeignScope scope = kScope;
  scope.includes_qualified = true;
  const Texts marked = {"1000: from 10.96.0.7 fwmark 0x1 lookup 100"};
  EXPECT_EQ(found(scope, marked), marked);
}

TEST(ForeignRules, of_all_of_others_only_ours_and_what_every_host_has_are_left_out) {
  state::NetState seen;
  for (const char* text :
       {"0: from all lookup local", "0: from 10.96.0.7 lookup 7", "70: from all fwmark 0x7 lookup 7",
        "1000: from 10.96.0.7 lookup 100 proto 183", "1000: from all lookup [l3mdev-table] proto kernel",
        "32766: from all lookup main proto kernel"}) {
    seen.rules.push_back(state::parse_rule(net::Family::v4, text).value());
  }
  Texts out;
  for (const state::Rule& rule : rules_of_others(seen, {})) out.push_back(state::text(rule));
  EXPECT_EQ(out, (Texts{"0: from 10.96.0.7 lookup 7", "70: from all fwmark 0x7 lookup 7"}));
}

}  // namespace
}  // namespace plan
