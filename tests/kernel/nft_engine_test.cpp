#include <chrono>

#include <fmt/format.h>

#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

using namespace std::chrono_literals;
using state::NetState;

class NftEngine : public Sandbox {
 protected:
  static net::Address ip(std::string_view text) { return net::Address::parse(text).value(); }
  static state::Rule rule(std::string_view text) { return state::parse_rule(net::Family::v4, text).value(); }

  static NetState by_rules() { return {.rules = {rule("1000: from 10.0.0.7 lookup 100 proto 183")}}; }
  static NetState by_marks(int sources = 1) {
    NetState out{.rules = {rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")},
                 .nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}}};
    for (int i = 0; i < sources; ++i) out.nft->sources[ip(fmt::format("10.0.{}.{}", i / 200, i % 200 + 7))] = 0x100;
    return out;
  }

  Engine engine_ = Engine::open({}, Engine::Reach::steering).value();

  Engine::Report converge(const NetState& wanted) {
    auto report = engine_.converge(wanted, {});
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }
};

TEST_F(NftEngine, rules_and_table_come_and_go_together_and_a_second_pass_writes_nothing) {
  EXPECT_TRUE(converge(by_rules()).settled());
  EXPECT_TRUE(converge(by_marks()).settled());
  EXPECT_EQ(run("ip rule show priority 1000"), "1000:\tfrom all fwmark 0x100/0x3f00 lookup 100 proto 183\n");
  EXPECT_NE(run("nft list map inet iprule src4").find("10.0.0.7 : goto source01"), std::string::npos);
  EXPECT_TRUE(converge(by_marks()).done.empty());
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(run("ip rule show priority 1000") + run("nft list tables"), "");
}

TEST_F(NftEngine, H1_foreign_flush_of_the_ruleset_is_told_by_event_and_repaired) {
  runtime::Signal changed;
  const auto monitor = Monitor::start(engine_.port(), changed).value();
  converge(by_marks(1000));
  EXPECT_TRUE(monitor->take().empty());  // Our own doing is no news.
  run("nft add table inet other");
  run("nft flush ruleset");
  ASSERT_TRUE(changed.wait({}, std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(monitor->take(), Kinds{Kind::nft});
  const auto report = converge(by_marks(1000));
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(report.done.ops.size(), 1U);
  EXPECT_EQ(run("nft list map inet iprule src4 | grep -o goto | wc -l"), "1000\n");
}

TEST_F(NftEngine, S19_passes_over_a_converged_node_write_nothing_and_do_not_list_the_table_again) {
  converge(by_marks(1000));
  const auto listed = engine_.table_listings();
  for (int pass = 0; pass < 3; ++pass) EXPECT_TRUE(converge(by_marks(1000)).done.empty());
  EXPECT_EQ(engine_.table_listings(), listed);
  engine_.distrust();
  EXPECT_TRUE(converge(by_marks(1000)).done.empty());
  EXPECT_EQ(engine_.table_listings(), listed + 1);
}

TEST_F(NftEngine, changes_of_other_tables_are_not_our_business) {
  runtime::Signal changed;
  const auto monitor = Monitor::start(engine_.port(), changed).value();
  converge(by_marks());
  run("nft add table inet other");
  run("ip rule add from 10.9.9.9 lookup 9 priority 9");  // So that there is something to wait for.
  ASSERT_TRUE(changed.wait({}, std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(monitor->take(), Kinds{Kind::rule});
}

TEST_F(NftEngine, a_change_of_the_reverse_path_filter_is_told) {
  runtime::Signal changed;
  const auto monitor = Monitor::start(engine_.port(), changed).value();
  run("sysctl -qw net.ipv4.conf.lo.rp_filter=2");
  ASSERT_TRUE(changed.wait({}, std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(monitor->take(), Kinds{Kind::setting});
}

TEST_F(NftEngine, the_rule_that_carried_a_source_stays_when_the_table_cannot_be_made) {
  converge(by_rules());
  plan::Plan todo = plan::diff(state::Verified{by_rules()}, by_marks(), engine_.ownership());
  state::NftChange wrong = *std::get<plan::ChangeNft>(todo.ops.at(1)).change;
  wrong.table = state::NftChange::Table::keep;  // There is none to keep: the kernel refuses.
  todo.ops[1] = plan::ChangeNft{std::make_shared<const state::NftChange>(wrong)};
  const auto outcome = engine_.apply(todo, {});
  ASSERT_EQ(outcome.results.size(), 3U);
  EXPECT_EQ(outcome.results[1].effect, Effect::failed);
  EXPECT_EQ(outcome.results[2].effect, Effect::pending);
  EXPECT_NE(run("ip rule show priority 1000").find("from 10.0.0.7 lookup 100"), std::string::npos);
  EXPECT_TRUE(converge(by_marks()).settled());
}

TEST_F(NftEngine, no_packet_is_marked_while_the_rule_for_the_mark_is_missing) {
  NetState wanted = by_marks();
  wanted.rules[0].action = state::RuleAction::go_to;  // Backwards: the kernel refuses it.
  wanted.rules[0].table = 0;
  wanted.rules[0].target = 1;
  plan::Plan todo;
  todo.ops = {plan::AddRule{wanted.rules[0]},
              plan::ChangeNft{std::make_shared<const state::NftChange>(state::diff({}, {}, wanted.nft))}};
  const auto outcome = engine_.apply(todo, {});
  EXPECT_EQ(outcome.results[1].effect, Effect::failed);
  EXPECT_EQ(run("nft list tables"), "");
}

}  // namespace
}  // namespace kernel
