#include <algorithm>
#include <chrono>

#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

using namespace std::chrono_literals;
using state::NetState;

class Rules : public Sandbox {
 protected:
  static NetState desired(std::initializer_list<const char*> v4, std::initializer_list<const char*> v6 = {}) {
    NetState out;
    for (const auto* line : v4) out.rules.push_back(state::parse_rule(net::Family::v4, line).value());
    for (const auto* line : v6) out.rules.push_back(state::parse_rule(net::Family::v6, line).value());
    return out;
  }

  static NetState many(int count) {
    NetState out;
    for (int i = 0; i < count; ++i) {
      auto rule = state::parse_rule(net::Family::v4, "500: from all lookup 100 proto 183").value();
      const std::string text =
          "10." + std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) + "." + std::to_string(i & 255);
      rule.selector.from = net::Prefix::host(net::Address::parse(text).value());
      out.rules.push_back(rule);
    }
    return out;
  }

  // The rules of one priority, as `ip` prints them.
  static std::string shown(int priority, const std::string& options = "") {
    return run("ip " + options + " rule show priority " + std::to_string(priority));
  }

  Engine::Report converge(const NetState& wanted) {
    auto report = engine().converge(wanted, {});
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }

  Engine& engine() {
    if (!engine_) engine_.emplace(Engine::open({}).value());
    return *engine_;
  }

 private:
  std::optional<Engine> engine_;
};

TEST_F(Rules, desired_rules_of_both_families_appear_and_go) {
  const auto wanted =
      desired({"500: from 10.0.0.7 lookup 100 proto 183"}, {"500: from 2001:db8::7 lookup 100 proto 183"});
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(shown(500), "500:\tfrom 10.0.0.7 lookup 100 proto 183\n");
  EXPECT_EQ(shown(500, "-6"), "500:\tfrom 2001:db8::7 lookup 100 proto 183\n");
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(shown(500) + shown(500, "-6"), "");
}

TEST_F(Rules, nothing_is_written_when_nothing_is_to_do) {
  const auto wanted = desired({"500: from 10.0.0.7 lookup 100 proto 183"});
  converge(wanted);
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled());
  EXPECT_TRUE(report.outcome.results.empty());
}

TEST_F(Rules, foreign_rules_stay_byte_for_byte) {
  run("ip rule add from 10.0.0.7 lookup 100 priority 500 protocol static");
  run("ip rule add from 10.0.0.8 lookup 7 priority 500");
  run("ip rule add fwmark 0x4000/0x4000 lookup 9 priority 1 iif missing0");
  const std::string before = run("ip -details rule");
  const auto wanted = desired({"500: from 10.0.0.7 lookup 100 proto 183", "1: from all lookup 9 proto 183"});
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled());
  ASSERT_EQ(report.left.clashes.size(), 1);
  EXPECT_EQ(text(report.left.clashes[0].foreign), "500: from 10.0.0.7 lookup 100 proto static");
  converge({});
  EXPECT_EQ(run("ip -details rule"), before);
}

TEST_F(Rules, rule_text_is_what_ip_prints) {
  const auto wanted = desired({
      "10: not from 10.0.0.0/8 to 192.0.2.0/24 lookup 7 proto 183",
      "11: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183",
      "12: from all tos 0x10 fwmark 0x14 iif lo uidrange 0-99 ipproto tcp sport 80 dport 1000-2000 lookup 4294967295 "
      "proto 183",
      "13: from all oif lo ipproto udp dport 53 lookup 300 suppress_ifgroup 5 proto 183",
      "14: from all goto 20 proto 183",
      "15: from 10.0.0.0/8 blackhole proto 183",
      "16: from all nop proto 183",
      "17: from all prohibit proto 183",
      "18: from all unreachable proto 183",
      "19: from all lookup [l3mdev-table] proto 183",
      "20: from all nop proto 183",
  });
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled()) << text(report.left);
  for (const auto& rule : wanted.rules) {
    std::string line = shown(static_cast<int>(rule.priority));
    std::ranges::replace(line, '\t', ' ');
    EXPECT_EQ(line, text(rule) + "\n");
  }
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(run("ip rule | wc -l"), "3\n");
}

TEST_F(Rules, F13_many_of_one_priority_go_in_once_each) {
  const auto wanted = many(3000);
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(report.outcome.count(Effect::done), 3000);
  EXPECT_EQ(run("ip rule show priority 500 | sort | uniq | wc -l"), "3000\n");
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(run("ip rule | wc -l"), "3\n");
}

TEST_F(Rules, copies_of_a_rule_are_removed_but_one) {
  const auto wanted = desired({"500: from 10.0.0.7 lookup 100 proto 183"});
  converge(wanted);
  // NLM_F_REPLACE alone adds a copy; `ip` cannot be told, so our own bulk add plays the other.
  plan::Plan copies;
  for (int i = 0; i < 3; ++i) copies.ops.emplace_back(plan::AddRule{.rule = wanted.rules[0], .exclusive = false});
  engine().apply(copies, {});
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "4\n");
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(report.outcome.count(Effect::done), 3);
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "1\n");
}

TEST_F(Rules, refused_operation_stays_alone_with_the_words_of_the_kernel) {
  plan::Plan todo;
  auto good = desired({"500: from 10.0.0.7 lookup 100 proto 183", "501: from 10.0.0.8 lookup 100 proto 183"});
  auto bad = good.rules[0];
  bad.action = state::RuleAction::go_to;
  bad.table = 0;
  bad.target = 1;
  todo.ops = {plan::AddRule{good.rules[0]}, plan::AddRule{bad}, plan::AddRule{good.rules[1]}};
  const auto outcome = engine().apply(todo, {});
  EXPECT_EQ(outcome.count(Effect::done), 2);
  ASSERT_EQ(outcome.count(Effect::failed), 1);
  EXPECT_EQ(outcome.results[1].status.error().message(),
            "add IPv4 rule 500: from 10.0.0.7 goto 1 proto 183: kernel: EINVAL (Backward goto not supported)");
}

TEST_F(Rules, F11_what_is_not_ours_cannot_be_removed_even_by_a_wrong_plan) {
  plan::Plan wrong;
  wrong.ops = {plan::RemoveRule{state::parse_rule(net::Family::v4, "0: from all lookup local proto kernel").value()}};
  const auto outcome = engine().apply(wrong, {});
  EXPECT_EQ(outcome.results[0].status.error().fault(), base::Fault::bug);
  EXPECT_EQ(run("ip rule | wc -l"), "3\n");
}

TEST_F(Rules, F1_flush_of_our_rules_is_noticed_and_repaired) {
  runtime::Signal changed;
  const auto monitor = Monitor::start(engine().port(), changed).value();
  const auto wanted = many(200);
  converge(wanted);
  EXPECT_TRUE(monitor->take().empty());  // Our own doing is no news.
  run("ip rule flush protocol 183");
  ASSERT_TRUE(changed.wait({}, std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(monitor->take(), Kinds{Kind::rule});
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "200\n");
}

}  // namespace
}  // namespace kernel
