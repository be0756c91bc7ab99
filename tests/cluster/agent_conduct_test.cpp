// How the agent behaves towards its surroundings: what it asks of the API server, what it writes to its log.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>

#include "agent_on_node.h"
#include "base/file.h"
#include "json/reader.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AgentConduct : public AgentOnNode {
 protected:
  // Requests of the agent that the API server has seen end.
  std::size_t requests() {
    std::istringstream log(base::read_file(cluster_.audit_log()).value_or(""));
    std::size_t out = 0;
    for (std::string line; std::getline(log, line);) {
      if (line.contains("system:serviceaccount:default:edge-agent")) ++out;
    }
    return out;
  }
  int looks() {
    const std::string page = ask("/metrics");
    const std::string name = "\niprule_agent_reconcile_duration_seconds_count ";
    const auto at = page.find(name);
    return at != std::string::npos ? std::stoi(page.substr(at + name.size())) : 0;
  }
};

TEST_F(AgentConduct, D28_when_all_is_right_nothing_is_asked_of_the_api_server) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({"RECONCILE_PERIOD=1s"});
  ASSERT_TRUE(eventually("acknowledged", kBound, [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  const int first = looks();
  ASSERT_TRUE(eventually("it has looked twice", kBound, [&] { return looks() >= first + 2; }));
  const std::size_t before = requests();
  ASSERT_TRUE(eventually("and again", kBound, [&] { return looks() >= first + 5; }));
  EXPECT_EQ(requests(), before);
}

TEST_F(AgentConduct, T10_it_has_confined_itself_to_the_system_calls_it_needs) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  const std::string status = base::read_file(fmt::format("/proc/{}/status", agent_->pid())).value_or("");
  EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
  EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
}

TEST_F(AgentConduct, D4_an_object_that_vanished_takes_its_rule_with_it_whenever_the_agent_finds_out) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.51"));
  kubectl({"delete", "ipruleconfig", "iprc-10-96-1-50"});
  EXPECT_TRUE(rule_goes("10.96.1.50"));
  agent_->kill();
  kubectl({"delete", "ipruleconfig", "iprc-10-96-1-51"});
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.51")));
  start_agent();
  EXPECT_TRUE(rule_goes("10.96.1.51"));
}

TEST_F(AgentConduct, D56_the_log_has_one_structured_line_for_each_change_of_the_kernel) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  withdraw("iprc-10-96-1-50");
  ASSERT_TRUE(rule_goes("10.96.1.50"));
  EXPECT_TRUE(eventually("it is logged", kBound, [&] { return agent_->output().contains("\"deleted\""); }));
  std::istringstream log(agent_->output());
  int added = 0;
  int deleted = 0;
  for (std::string text; std::getline(log, text);) {
    json::Reader reader;
    const auto entry = reader.parse(text);
    ASSERT_TRUE(entry) << text;
    EXPECT_TRUE((*entry)["ts"].string() && (*entry)["level"].string()) << text;
    EXPECT_EQ((*entry)["logger"].string_or(""), "agent") << text;
    EXPECT_EQ((*entry)["node"].string_or(""), kNode) << text;
    const bool is_rule = (*entry)["rule"].string_or("") == "from 10.96.1.50 lookup 100 proto 183 priority 1000" &&
                         (*entry)["took_ms"].integer<int>();
    if (is_rule && (*entry)["msg"].string_or("") == "added") ++added;
    if (is_rule && (*entry)["msg"].string_or("") == "deleted") ++deleted;
  }
  EXPECT_EQ(added, 1);
  EXPECT_EQ(deleted, 1);
}

TEST_F(AgentConduct, S22_no_token_reaches_its_log_at_any_level) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({"LOG_LEVEL=debug"});
  ASSERT_TRUE(eventually("acknowledged", kBound, [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  const std::string token = "eyJ";  // Of an account begins so: base64 of `{"`.
  ASSERT_THAT(base::read_file(kubeconfig_).value(), HasSubstr(token));
  const std::string log = agent_->output() + agent_->errors();
  EXPECT_THAT(log, HasSubstr("/nodestates/"));
  EXPECT_THAT(log, Not(HasSubstr(token)));
}

TEST_F(AgentConduct, D56_the_level_is_the_environments) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({"LOG_LEVEL=error"});
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(agent_->output(), "");
}

}  // namespace
}  // namespace cluster_test
