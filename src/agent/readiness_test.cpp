#include "agent/readiness.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using testing::HasSubstr;

Pass settled() {
  Pass out;
  out.report.after = state::Verified{};
  return out;
}

Pass refused(base::Error error) {
  Pass out;
  out.report.after = state::Verified{};
  out.report.done.ops = {plan::AddRule{}};
  out.report.left.ops = {plan::AddRule{}};
  out.report.outcome.results = {{.effect = kernel::Effect::failed, .status = std::unexpected(std::move(error))}};
  return out;
}

class ReadinessTest : public testing::Test {
 protected:
  ReadinessTest() { readiness_.add_to(health_); }

  Readiness readiness_;
  runtime::Health health_;
};

TEST_F(ReadinessTest, D33_ready_is_after_the_first_sync_and_not_before) {
  EXPECT_FALSE(health_.report().well);
  readiness_.note(std::optional<Pass>(), {});
  EXPECT_FALSE(health_.report().well) << "what is wanted is not known yet";
  readiness_.note(settled(), {});
  EXPECT_TRUE(health_.report().well);
  readiness_.note(std::optional<Pass>(), {});
  EXPECT_TRUE(health_.report().well) << "an API server that goes away does not make a node's rules wrong";
}

TEST_F(ReadinessTest, D33_no_permission_is_not_ready_and_says_so) {
  readiness_.note(refused(base::Error(base::Fault::denied, "add rule: EPERM", EPERM)), {});
  EXPECT_FALSE(health_.report().well);
  EXPECT_THAT(health_.report().text, HasSubstr("[-]rules failed: NotPermitted: add rule: EPERM"));
  readiness_.note(base::fail(base::Fault::denied, "open socket: EPERM", EPERM), {});
  EXPECT_THAT(health_.report().text, HasSubstr("NotPermitted: open socket"));
  readiness_.note(settled(), {});
  EXPECT_TRUE(health_.report().well);
}

TEST_F(ReadinessTest, D34_a_name_that_is_no_node_is_not_ready) {
  readiness_.note(settled(), "NoSuchNode: there is no Node here");
  EXPECT_FALSE(health_.report().well);
  EXPECT_THAT(health_.report().text, HasSubstr("[-]node failed: NoSuchNode"));
}

TEST_F(ReadinessTest, A11_a_watch_that_is_refused_is_told_and_the_node_stays_ready) {
  readiness_.note(settled(), {}, "NoAccess: agents can no longer be watched");
  EXPECT_TRUE(health_.report().well) << "its rules stand";
  EXPECT_EQ(health_.report().remarks, "[!]watch: NoAccess: agents can no longer be watched\n");
  readiness_.note(settled(), {});
  EXPECT_EQ(health_.report().remarks, "");
}

TEST_F(ReadinessTest, A11_a_watch_that_never_came_about_is_told_and_the_node_is_not_ready) {
  readiness_.note(std::optional<Pass>(), {}, "NoAccess: agents can no longer be watched");
  EXPECT_FALSE(health_.report().well);
  EXPECT_THAT(health_.report().remarks, HasSubstr("NoAccess"));
}

}  // namespace
}  // namespace agent
