// iprulectl on a host with a standalone agent: plan, diff, status, doctor, and the agent's own dry run.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/manifests.h"
#include "base/file.h"
#include "cli/question.h"
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
  // A rule whose table is empty steers nothing.
  void give_the_table_a_route() {
    ASSERT_TRUE(run({"ip", "link", "set", "lo", "up"}).exit.ok());
    ASSERT_TRUE(run({"ip", "route", "add", "198.51.100.0/24", "dev", "lo", "table", "100"}).exit.ok());
  }

  testbed::TempFolder status_;
};

TEST_F(HostCommands, plan_shows_the_kernels_lines_and_diff_is_empty_once_they_are_there) {
  const auto plan = ask({"plan", "--standalone", "-f", folder(), "--node", "router"});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_EQ(plan.output,
            "router, as its kernel is now\n"
            "  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
            "  ! table 100 has no IPv4 route: lookups fall through to main  IPR0311\n"
            "Plan: 1 to add, 0 to change, 0 to delete; 1 warning\n");
  EXPECT_THAT(run({"ip", "rule"}).output, Not(HasSubstr("proto 183"))) << "nothing was written";

  ASSERT_TRUE(agent({"--once"}).exit.ok());
  const auto diff = ask({"diff", "--standalone", folder()});
  EXPECT_EQ(diff.exit.code, 0) << diff.output << diff.errors;
  EXPECT_THAT(diff.output, HasSubstr("Diff: 0 to add, 0 to change, 0 to delete\n"));

  ASSERT_TRUE(run({"ip", "rule", "del", "priority", "1000"}).exit.ok());
  EXPECT_EQ(ask({"diff", "--standalone", folder()}).exit.code, 1) << "somebody removed it";
}

TEST_F(HostCommands, diff_tells_classes_and_the_rules_of_others_where_that_is_asked) {
  ASSERT_TRUE(run({"ip", "rule", "add", "from", "10.96.23.17", "lookup", "200", "priority", "1000", "proto", "static"})
                  .exit.ok());
  ASSERT_TRUE(run({"ip", "rule", "add", "fwmark", "7", "lookup", "7", "priority", "70"}).exit.ok());
  const auto rules = ask({"diff", "--standalone", folder(), "--class", "rule", "--foreign"});
  EXPECT_EQ(rules.exit.code, 1) << rules.errors;
  EXPECT_THAT(rules.output, HasSubstr("  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"));
  EXPECT_THAT(rules.output,
              HasSubstr("  foreign, left alone: IPv4 rule 70: from all fwmark 0x7 lookup 7\n"
                        "  foreign, left alone: IPv4 rule 1000: from 10.96.23.17 lookup 200 proto static  IPR0105\n"));
  EXPECT_THAT(rules.output, Not(HasSubstr("lookup main"))) << "the kernel's own are nobody's";
  EXPECT_EQ(ask({"diff", "--standalone", folder(), "--class", "nft"}).exit.code, 0) << "no rule is asked for";
  EXPECT_THAT(ask({"diff", "--standalone", folder()}).output, Not(HasSubstr("foreign, left alone")));

  const auto unknown = ask({"diff", "--standalone", folder(), "--class", "rule,rules"});
  EXPECT_EQ(unknown.exit.code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("--class: \"rules\" is none of rule, nft\n"));
  const auto no_kernel = ask({"diff", "--foreign"});
  EXPECT_EQ(no_kernel.exit.code, 2);
  EXPECT_THAT(no_kernel.errors, HasSubstr("none is asked: name nodes with --node, or --standalone\n"));
}

TEST_F(HostCommands, manifests_of_several_files_are_one_and_other_kinds_are_read_past) {
  write("deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: frontend}\n");
  const auto plan = ask({"plan", "--standalone", "-f", folder() + "/rule.yaml", "-f", folder() + "/service.yaml", "-f",
                         folder() + "/deployment.yaml", "--node", "router"});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("+ IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"));
  EXPECT_EQ(plan.errors, "iprulectl: 1 object of other kinds not read\n");
  EXPECT_EQ(ask({"analyze", "-f", folder(), "-q"}).errors, "");
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
  const auto nothing = ask({"plan", "-f", folder(), "--offline"});
  EXPECT_EQ(nothing.exit.code, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("--offline needs --state"));
  const auto plan = ask({"plan", "-f", folder(), "--offline", "--state", dumps.path().native()});
  EXPECT_EQ(plan.exit.code, 1) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
                                     "  - IPv4 rule 1000: from 10.96.23.18 lookup 100 proto 183\n"));
  EXPECT_THAT(plan.output, HasSubstr("IPR0105"));
}

// From what this very host would have to say: applied, dumped, planned from the dumps, nothing is left to do.
TEST_F(HostCommands, plan_from_dumps_knows_the_nft_table_or_says_that_it_does_not) {
  write("rule.yaml",
        "kind: IPRule\nmetadata: {name: public}\n"
        "spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [Reply]}}\n");
  ASSERT_EQ(agent({"--once"}).exit.code, 0);
  testbed::TempFolder dumps;
  const auto dump = [&](const std::string& name, const std::vector<std::string>& words) {
    ASSERT_TRUE(base::write_file(dumps / name, run(words).output));
  };
  const auto plan = [&] { return ask({"plan", "-f", folder(), "--offline", "--state", dumps.path().native()}); };
  dump("rule.json", {"ip", "-j", "rule"});
  dump("rule6.json", {"ip", "-6", "-j", "rule"});
  const auto unknown = plan();
  EXPECT_THAT(unknown.output, HasSubstr("nft -j list ruleset")) << unknown.errors;
  dump("nft.json", {"nft", "-j", "list", "ruleset"});
  const auto same = plan();
  EXPECT_EQ(same.exit.code, 0) << same.output << same.errors;
  run({"nft", "delete", "element", "inet", "iprule", "vip4", "{ 203.0.113.45 }"});
  dump("nft.json", {"nft", "-j", "list", "ruleset"});
  EXPECT_THAT(plan().output, HasSubstr("+ element vip4 203.0.113.45 : goto reply01\n"
                                       "Plan: 1 to add, 0 to change, 0 to delete\n"));
}

TEST_F(HostCommands, doctor_works_from_dumps_and_does_not_guess_what_they_do_not_show) {
  give_the_table_a_route();
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  testbed::TempFolder dumps;
  const std::string state = dumps.path().native();
  const auto dumped = run({"sh", "-ec",
                           "cd " + state +
                               "; ip -j rule >rule.json; ip -j route show table all >route.json; ip -j -d addr "
                               ">addr.json; nft -j list ruleset >nft.json"});
  ASSERT_TRUE(dumped.exit.ok()) << dumped.errors;
  const auto doctor = ask({"doctor", "--offline", "--state", state});
  EXPECT_EQ(doctor.exit.code, 0) << doctor.output << doctor.errors;
  EXPECT_THAT(doctor.output, HasSubstr("  ok  table 100"));
  EXPECT_THAT(doctor.output, HasSubstr("  ok  local rule"));
  EXPECT_THAT(doctor.output, HasSubstr("  ?   conntrack"));
  EXPECT_THAT(doctor.output, HasSubstr("4 rules, 1 ours"));
  EXPECT_EQ(ask({"doctor", "--offline"}).exit.code, 2);
  EXPECT_EQ(ask({"doctor", "--state", state, "--local"}).exit.code, 2);
  EXPECT_EQ(ask({"doctor", "--state", state + "/nowhere"}).exit.code, 2);
}

TEST_F(HostCommands, the_agents_dry_run_prints_the_plan_and_writes_nothing) {
  const auto done = agent({"--dry-run"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output, "add IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n");
  EXPECT_THAT(run({"ip", "rule"}).output, Not(HasSubstr("proto 183")));
}

TEST_F(HostCommands, S7_a_rule_removed_while_no_agent_ran_comes_back_alone_under_the_mark_of_its_class) {
  write("rule.yaml",
        "kind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: "
        "{modes: [Reply]}}\n");
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  ASSERT_THAT(rules(), HasSubstr("999:\tfrom all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183"));
  for (const std::string priority : {"999", "1000"}) {  // What is left seems to be another class's, or nobody's.
    ASSERT_TRUE(run({"ip", "rule", "del", "priority", priority}).exit.ok());
    const auto todo = agent({"--dry-run"});
    EXPECT_THAT(todo.output, HasSubstr("add IPv4 rule " + priority + ": from all fwmark 0x100/0x3f00 "));
    EXPECT_EQ(std::ranges::count(todo.output, '\n'), priority == "999" ? 1 : 2) << todo.output;
    const auto diff = ask({"diff", "--standalone", folder(), "--node", "router"});
    EXPECT_THAT(diff.output, HasSubstr(" to add, 0 to change, 0 to delete"));
  }
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  EXPECT_EQ(agent({"--dry-run"}).output, "");
  EXPECT_THAT(rules(), HasSubstr("1000:\tfrom all fwmark 0x100/0x3f00 lookup 100 proto 183"));
}

TEST_F(HostCommands, status_tells_what_the_standalone_agent_says_of_itself) {
  const auto none = ask({"status", "--standalone", "--status-directory", status_.path().native()});
  EXPECT_EQ(none.exit.code, 3);
  EXPECT_THAT(none.errors, HasSubstr("status.json"));

  give_the_table_a_route();
  testbed::Process& process = start_agent({"--status-directory", status_.path().native()});
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

  std::filesystem::remove(manifests_ / "more.yaml");
  EXPECT_TRUE(testbed::eventually("all is well again", 20s, [&] { return ask_status().exit.code == 0; }));
  ASSERT_TRUE(run({"ip", "route", "flush", "table", "100"}).exit.ok());
  EXPECT_TRUE(testbed::eventually("the empty table is told", 20s, [&] {
    return ask_status().output.contains("  !!  table 100 has no IPv4 route: lookups fall through");
  })) << ask_status().output;
  give_the_table_a_route();
  EXPECT_TRUE(testbed::eventually("all is well again", 20s, [&] { return ask_status().exit.code == 0; }));
  process.kill();
  EXPECT_EQ(ask_status().exit.code, 1) << "its last word stays, and it does not";
  EXPECT_THAT(ask_status().output, HasSubstr("Its agent does not run: this is what it knew last.\n"));
}

TEST_F(HostCommands, drift_shows_what_others_changed_and_whether_it_is_over) {
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  const auto none = ask({"drift", "--standalone", folder()});
  EXPECT_EQ(none.exit.code, 0) << none.errors;
  EXPECT_THAT(none.output, HasSubstr(": all of ours is as it should be.\n"));

  auto started = host_->start({.arguments = {IPRULECTL, "drift", "--standalone", "-w", folder()}});
  ASSERT_TRUE(started) << started.error().message();
  testbed::Process& watch = **started;
  // It says nothing while all is well, so its being there is seen by what it tells of a first change.
  const auto seen = [&](std::string_view words) {
    return testbed::eventually(std::string(words), 20s, [&] { return watch.output().contains(words); });
  };
  ASSERT_TRUE(run({"ip", "rule", "del", "priority", "1000"}).exit.ok());
  EXPECT_TRUE(
      seen("  IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183  present  missing  -       not repaired yet\n"))
      << watch.errors();
  const auto missing = ask({"drift", "--standalone", folder()});
  EXPECT_EQ(missing.exit.code, 1) << missing.errors;
  EXPECT_THAT(missing.output, HasSubstr("  missing  -       not repaired yet\n"));
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  EXPECT_TRUE(seen("  IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183  present  missing  -  over\n"))
      << watch.output();
  EXPECT_EQ(ask({"drift", "--standalone", "-w", folder() + "/none"}).exit.code, 2);
}

TEST_F(HostCommands, drift_tells_what_a_standalone_agent_put_right) {
  give_the_table_a_route();
  start_agent({"--status-directory", status_.path().native()});
  const auto drift = [&] {
    return ask({"drift", "--standalone", "--status-directory", status_.path().native(), folder()});
  };
  ASSERT_TRUE(testbed::eventually("the agent is done", 20s, [&] {
    return ask({"status", "--standalone", "--status-directory", status_.path().native()}).exit.code == 0;
  }));
  ASSERT_TRUE(run({"ip", "rule", "del", "priority", "1000"}).exit.ok());
  EXPECT_TRUE(testbed::eventually("the repair is told", 20s, [&] {
    return drift().output.contains(
        "  IPv4 rule 1000: from 10.96.23.17 lookup 100  present  missing  -       repaired in ");
  })) << drift().output;
  EXPECT_EQ(drift().exit.code, 0) << "what was repaired is no more";
  ASSERT_TRUE(run({"ip", "rule", "del", "priority", "1000"}).exit.ok());
  EXPECT_TRUE(testbed::eventually("the second is told", 20s, [&] { return drift().output.contains(", 2nd time\n"); }))
      << drift().output;
  const auto within = [&](const std::string& time) {
    return ask({"drift", "--standalone", "--status-directory", status_.path().native(), folder(), "--since", time, "-o",
                "json"})
        .output;
  };
  EXPECT_THAT(within("1h"), HasSubstr(R"("found":"missing","action":"repaired in )"));
  EXPECT_THAT(within("1h"), HasSubstr(R"("repairs":2)"));
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

// As iprulectl asks a node, with what its cluster wants there.
TEST_F(HostCommands, doctor_shows_by_connections_what_replies_bear) {
  const auto manifests = agent::read_manifests(folder());
  ASSERT_TRUE(manifests) << manifests.error().message();
  const cli::ClusterObjects objects{.wanted = *manifests};
  cli::NodeWishes wishes = cli::wishes_on(objects, "router");
  wishes.frontends = cli::frontends_in(objects, wishes.rules);
  const auto doctor = [&] {
    const auto done = testbed::run({.arguments = {IPRULE_AGENT, "query"},
                                    .input = cli::encode({.about = cli::Question::About::doctor, .wishes = wishes}),
                                    .network = host_->network()},
                                   30s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished()).output;
  };
  EXPECT_THAT(doctor(), HasSubstr("too little traffic to tell: no connection to 203.0.113.45 is known here"));

  ASSERT_TRUE(run({"sh", "-c",
                   "ip link set lo up; ip addr add 10.244.1.7 dev lo; ip route add 203.0.113.0/24 dev lo;"
                   "nft add table ip t; nft 'add chain ip t out { type nat hook output priority -100; }';"
                   "nft add rule ip t out ip daddr 203.0.113.45 dnat to 10.244.1.7"})
                  .exit.ok());
  ASSERT_TRUE(run({"bash", "-c", "echo > /dev/udp/203.0.113.45/8080"}).exit.ok());
  const std::string shown = doctor();
  EXPECT_THAT(shown, HasSubstr("1 flow to 203.0.113.45: routed with source 10.244.1.7, original destination "
                               "203.0.113.45\",\"code\":\"IPR0301\""));
  EXPECT_THAT(shown, HasSubstr(R"("unfitRules":["public"])"));
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

  const auto live = query(R"({"about":"explain","packet":{"to":"127.0.0.1"},"live":{"packets":1,"seconds":1}})");
  EXPECT_EQ(live.exit.code, 0) << live.errors;
  EXPECT_THAT(live.output, HasSubstr(R"("code":4,)"));
  EXPECT_THAT(live.output, HasSubstr(R"("live":{"wanted":1,"lost":false,"packets":[]})"));

  const auto manifests = agent::read_manifests(folder());
  ASSERT_TRUE(manifests) << manifests.error().message();
  const std::string wanted =
      cli::encode({.about = cli::Question::About::diff, .wanted = cli::supposed_assignment(*manifests, "router")});
  const auto lacking = query(wanted);
  EXPECT_EQ(lacking.exit.code, 0) << lacking.errors;
  EXPECT_THAT(
      lacking.output,
      HasSubstr(R"({"do":"add","what":"IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183","class":"rule")"));
  EXPECT_THAT(lacking.output, HasSubstr(R"("text":"router, its kernel asked now)"));
  const auto plan = query(
      cli::encode({.about = cli::Question::About::plan, .wanted = cli::supposed_assignment(*manifests, "router")}));
  EXPECT_EQ(plan.exit.code, 0) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr(R"("kind":"Plan","operations":[{"do":"add",)"));
  EXPECT_THAT(plan.output, HasSubstr(R"({"code":"IPR0311","severity":"warning",)")) << "its table 100 was looked into";
  EXPECT_THAT(plan.output, HasSubstr(R"("sum":{"add":1,"change":0,"delete":0,"warnings":1})"));
  EXPECT_THAT(rules(), Not(HasSubstr("proto 183"))) << "a question changes nothing";
  ASSERT_TRUE(agent({"--once"}).exit.ok());
  EXPECT_THAT(query(wanted).output, HasSubstr(R"("operations":[])"));
  EXPECT_EQ(query("{\"about\":\"weather\"}\n").errors, "about: \"weather\" is none of doctor, explain, diff, plan\n");
}

}  // namespace
