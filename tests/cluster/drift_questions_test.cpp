// iprulectl over the objects of a cluster: drift.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "questions.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace questions {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(Questions, drift_names_the_nodes_and_obeys_nothing_they_say) {
  const auto done = ask({"drift"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("  changed again and again  -       5 repairs in a minute \\x1b[2J  IPR0314\n"));
  EXPECT_THAT(done.output, HasSubstr("1 of 2 nodes report that others change what is ours, or stand beside it.\n"));
  EXPECT_EQ(ask({"drift", "-l", "site=eu"}).exit.code, 0);
  EXPECT_EQ(ask({"drift", "-o", "name"}).output, "node/worker-2\n");
  const auto named = ask({"drift", "--node", "worker-1"});
  EXPECT_EQ(named.exit.code, 3) << "nobody answers for its kernel";
  EXPECT_THAT(named.output, HasSubstr("Not asked: the kernel of worker-1: there is no Agent object"));
}

TEST_F(Questions, drift_can_be_asked_for_what_is_recent) {
  const auto old = ask({"drift", "--since", "1h"});
  EXPECT_EQ(old.exit.code, 0) << old.errors;
  EXPECT_THAT(old.output, HasSubstr("0 of 2 nodes report"));
  EXPECT_THAT(old.output, HasSubstr(", begun within 60m.\n"));
  EXPECT_EQ(ask({"drift", "--since", "soon"}).exit.code, 2);
}

TEST_F(Questions, drift_that_is_watched_has_a_line_when_it_begins_and_one_when_it_ends) {
  const auto report = [](std::string_view status, std::string_view reason) {
    patch_status(
        "nodestate", "worker-1",
        fmt::format(
            R"({{"conditions":[{{"type":"Clashing","status":"{}","reason":"{}","message":"rule 1000","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}}]}})",
            status, reason));
  };
  report("False", "NoClash");
  auto watch = testbed::Process::start(
      {.arguments = {IPRULECTL, "drift", "-w", "--kubeconfig", cluster().admin_kubeconfig().native()}});
  ASSERT_TRUE(watch) << watch.error().message();
  const auto seen = [&](std::string_view words) {
    return testbed::eventually(std::string(words), 60s, [&] { return watch->output().contains(words); });
  };
  ASSERT_TRUE(seen("  changed again and again  -       5 repairs in a minute \\x1b[2J  IPR0314\n")) << watch->errors();
  report("True", "ForeignRule");
  EXPECT_TRUE(seen("  another's beside one  -  rule 1000  IPR0105\n")) << watch->output();
  report("False", "NoClash");
  EXPECT_TRUE(seen("  another's beside one  -  over\n")) << watch->output();
  const std::string all = watch->output();
  EXPECT_EQ(std::ranges::count(all, '\n'), 4) << "titles, and a line for each:\n" << all;
  EXPECT_EQ(ask({"drift", "-w", "--node", "worker-l"}).errors,
            "iprulectl: --node: there is no node \"worker-l\"; did you mean \"worker-1\"?\n");
  EXPECT_EQ(ask({"drift", "-w", "--since", "1h"}).exit.code, 2);
}

}  // namespace
}  // namespace questions
