// iprulectl on a host with a standalone agent: plan, diff, status, doctor, and the agent's own dry run.
#include <algorithm>
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "host_test.h"
#include "testbed/eventually.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class HostCommands : public HostTest {
 protected:
  testbed::TempFolder status_;
};

TEST_F(HostCommands, plan_shows_the_kernels_lines_and_diff_is_empty_once_they_are_there) {
  const auto plan = ask({"plan", "--standalone", "-f", folder(), "--node", "router"});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_EQ(plan.output,
            "router, as its kernel is now\n"
            "  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
            "Plan: 1 to add, 0 to change, 0 to delete\n");
  EXPECT_THAT(run({"ip", "rule"}).output, Not(HasSubstr("proto 183"))) << "nothing was written";

  ASSERT_TRUE(agent({"--once"}).exit.ok());
  const auto diff = ask({"diff", "--standalone", folder()});
  EXPECT_EQ(diff.exit.code, 0) << diff.output << diff.errors;
  EXPECT_THAT(diff.output, HasSubstr("Diff: 0 to add, 0 to change, 0 to delete\n"));

  ASSERT_TRUE(run({"ip", "rule", "del", "priority", "1000"}).exit.ok());
  EXPECT_EQ(ask({"diff", "--standalone", folder()}).exit.code, 1) << "somebody removed it";
}

TEST_F(HostCommands, a_reply_is_planned_with_its_nft_table) {
  write("rule.yaml",
        "kind: IPRule\nmetadata: {name: public}\n"
        "spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [Reply]}}\n");
  const auto plan = ask({"plan", "--standalone", "-f", folder()});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("+ IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"));
  EXPECT_THAT(plan.output, HasSubstr("203.0.113.45"));
}

TEST_F(HostCommands, plan_works_from_dumps_of_another_host) {
  testbed::TempFolder dumps;
  const auto missing = ask({"plan", "-f", folder(), "--state", dumps.path().native()});
  EXPECT_EQ(missing.exit.code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("neither rule.json nor rule6.json"));

  ASSERT_TRUE(base::write_file(dumps / "rule.json",
                               R"([{"priority":1000,"src":"10.96.23.18","table":"100","protocol":"183"},
                                   {"priority":1000,"src":"10.96.23.17","table":"200","protocol":"static"}])"));
  const auto plan = ask({"plan", "-f", folder(), "--state", dumps.path().native()});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
                                     "  - IPv4 rule 1000: from 10.96.23.18 lookup 100 proto 183\n"));
  EXPECT_THAT(plan.output, HasSubstr("IPR0105"));
}

TEST_F(HostCommands, the_agents_dry_run_prints_the_plan_and_writes_nothing) {
  const auto done = agent({"--dry-run"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output, "add IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n");
  EXPECT_THAT(run({"ip", "rule"}).output, Not(HasSubstr("proto 183")));
}

TEST_F(HostCommands, status_tells_what_the_standalone_agent_says_of_itself) {
  const auto none = ask({"status", "--standalone", "--status-directory", status_.path().native()});
  EXPECT_EQ(none.exit.code, 3);
  EXPECT_THAT(none.errors, HasSubstr("status.json"));

  start_agent({"--status-directory", status_.path().native()});
  const auto ask_status = [&] {
    return ask({"status", "--standalone", "--status-directory", status_.path().native()});
  };
  EXPECT_TRUE(testbed::eventually("all is well", 20s, [&] { return ask_status().exit.code == 0; }));
  EXPECT_THAT(ask_status().output, HasSubstr("  ok  IPRule/public  1         1     Valid\n"));
  EXPECT_THAT(ask_status().output, HasSubstr("1 rules of ours in the kernel. Healthy.\n"));

  ASSERT_TRUE(base::write_file(manifests_ / "more.yaml", "kind: IPRule\nmetadata: {name: x}\nspec: {tabel: 7}\n"));
  EXPECT_TRUE(testbed::eventually("the broken file is told", 20s, [&] {
    return ask_status().output.contains("more.yaml:3:15: spec.tabel: unknown field; did you mean table?");
  })) << ask_status().output;
  EXPECT_EQ(ask_status().exit.code, 1);
}

TEST_F(HostCommands, doctor_says_what_the_host_shows) {
  const auto fine = ask({"doctor", "--local"});
  EXPECT_THAT(fine.output, HasSubstr("local rule"));
  EXPECT_THAT(fine.output, HasSubstr("at 0\n"));
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  const auto empty = ask({"doctor", "--local"});
  EXPECT_EQ(empty.exit.code, 1) << empty.errors;
  EXPECT_THAT(empty.output, HasSubstr("no IPv4 route: lookups fall through to the next rule  IPR0311\n"));
}

// What iprulectl asks of a node of a cluster.
TEST_F(HostCommands, the_agents_query_gives_the_answer_that_the_command_gives_there) {
  const auto query = [&](const std::string& question) {
    const auto done =
        testbed::run({.arguments = {IPRULE_AGENT, "query"}, .input = question, .network = host_->network()},
                     std::chrono::seconds(30));
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  };
  const auto doctor = query("{\"about\":\"doctor\"}\nwhat follows is not read");
  EXPECT_EQ(doctor.exit.code, 0) << doctor.errors;
  EXPECT_EQ(std::ranges::count(doctor.output, '\n'), 1);
  std::string document = ask({"doctor", "--local", "-o", "json"}).output;
  document.pop_back();
  EXPECT_THAT(doctor.output, HasSubstr("\"document\":" + document + "}\n"));

  const auto wrong = query(R"({"about":"explain","packet":{"to":"198.18.7.9","from":"10.1.1.1","iif":"eth9"}})");
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_EQ(wrong.errors, "--iif: this host has no device eth9\n");
  EXPECT_EQ(query("").exit.code, 2);
  EXPECT_EQ(query("{\"about\":\"weather\"}\n").errors, "about: \"weather\" is none of doctor, explain\n");
}

}  // namespace
