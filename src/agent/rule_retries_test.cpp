#include "agent/rule_retries.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

state::Rule refused_rule(const std::string& text) {
  return state::parse_rule(net::Family::v4, text).value();
}
const state::Rule kBad = refused_rule("1000: from 10.0.0.1 lookup 100 proto 183");
const state::Rule kGood = refused_rule("1000: from 10.0.0.2 lookup 100 proto 183");

// What the kernel says to these adds; 0 is done.
kernel::Engine::Report tried(const std::vector<std::pair<state::Rule, int>>& adds) {
  kernel::Engine::Report out;
  for (const auto& [one, error] : adds) {
    out.done.ops.emplace_back(plan::AddRule{.rule = one});
    kernel::OpResult result;
    if (error != 0) {
      result = {.effect = kernel::Effect::failed, .status = base::fail(base::Fault::kernel, "refused", error)};
    }
    out.outcome.results.push_back(std::move(result));
  }
  return out;
}

class RuleRetriesTest : public testing::Test {
 protected:
  std::vector<state::Rule> left_of(std::vector<state::Rule> wanted) {
    state::NetState state{.rules = std::move(wanted)};
    retries_.hold_back(state, now_);
    return state.rules;
  }
  using Rules = std::vector<state::Rule>;

  RuleRetries retries_{1};
  base::TimePoint now_{1h};
};

TEST_F(RuleRetriesTest, D29_a_refused_rule_waits_alone) {
  EXPECT_EQ(left_of({kBad, kGood}), (Rules{kBad, kGood}));
  retries_.note(tried({{kBad, ENOBUFS}, {kGood, 0}}), now_);
  EXPECT_EQ(left_of({kBad, kGood}), Rules{kGood});
  ASSERT_TRUE(retries_.next_due());
  EXPECT_LE(*retries_.next_due() - now_, 2s);
  now_ = *retries_.next_due();
  EXPECT_EQ(left_of({kBad, kGood}), (Rules{kBad, kGood}));
  retries_.note(tried({{kBad, 0}}), now_);
  EXPECT_TRUE(retries_.refused().empty());
}

TEST_F(RuleRetriesTest, waits_grow_to_a_minute) {
  for (int i = 0; i < 20; ++i) {
    retries_.note(tried({{kBad, ENOBUFS}}), now_);
    EXPECT_LE(*retries_.next_due() - now_, 61s);
    now_ = *retries_.next_due();
  }
}

TEST_F(RuleRetriesTest, D29_what_is_wrong_in_itself_is_not_tried_again_until_it_is_another) {
  retries_.note(tried({{kBad, EINVAL}}), now_);
  EXPECT_FALSE(retries_.next_due());
  now_ += 24h;
  EXPECT_EQ(left_of({kBad, kGood}), Rules{kGood});
  EXPECT_EQ(retries_.refused().size(), 1U) << "but it is not forgotten";
  EXPECT_EQ(left_of({kGood}), Rules{kGood});
  EXPECT_TRUE(retries_.refused().empty()) << "nobody wants it any more";
  EXPECT_EQ(left_of({kBad}), Rules{kBad});
}

TEST_F(RuleRetriesTest, F10_each_refusal_is_tried_again_in_time_or_never) {
  for (const int passing : {EINTR, EAGAIN, EBUSY, ENOMEM, ENOBUFS, EPERM}) {
    retries_.note(tried({{kBad, passing}}), now_);
    EXPECT_TRUE(retries_.next_due()) << base::errno_name(passing);
  }
  for (const int lasting : {EINVAL, EOPNOTSUPP, ERANGE, EMSGSIZE}) {
    retries_.note(tried({{kBad, lasting}}), now_);
    EXPECT_FALSE(retries_.next_due()) << base::errno_name(lasting);
  }
}

TEST_F(RuleRetriesTest, a_rule_that_the_nft_table_relies_on_is_never_held_back) {
  const auto mark = refused_rule("1000: from all fwmark 0x100/0xff00 lookup 100 proto 183");
  retries_.note(tried({{mark, ENOBUFS}}), now_);
  EXPECT_EQ(left_of({mark}), Rules{mark});
}

}  // namespace
}  // namespace agent
