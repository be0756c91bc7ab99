// One agent and what may happen to its process, its node and its way to the API server (tests/FAULTS.md).
#include <csignal>
#include <thread>

#include <gmock/gmock.h>

#include "agent_on_node.h"
#include "base/file.h"
#include "testbed/fault_proxy.h"
#include "testbed/temp_folder.h"

namespace cluster_test {
namespace {

namespace fault = testbed::fault;
using testing::HasSubstr;
using testing::Not;

constexpr auto kRecovery = 120s;  // Waits between tries grow to half a minute.

class AgentFaults : public AgentBehindProxy {
 protected:
  testing::AssertionResult rule_comes_back(const std::string& source) {
    return eventually(source + " is steered", kRecovery, [&] { return rules().contains(line(source)); });
  }

  // Everything that changes among the node's rules from now on, a line each.
  testbed::Process& watch_rules() {
    auto monitor = node_->start({.arguments = {"ip", "monitor", "rule"}});
    EXPECT_TRUE(monitor) << monitor.error().message();
    // It tells of what comes after it has begun: one that is nobody's business shows that it has.
    EXPECT_TRUE(eventually("changes of rules are seen", kBound, [&] {
      ip({"rule", "add", "from", "10.9.9.9", "lookup", "9", "priority", "9"});
      ip({"rule", "del", "from", "10.9.9.9", "lookup", "9", "priority", "9"});
      return (*monitor)->output().contains("Deleted 9:");
    }));
    return **monitor;
  }

  testing::AssertionResult acknowledges(const std::string& config) {
    return eventually(config + " is acknowledged", kBound, [&] { return reported_epoch() >= version_of(config); });
  }
};

// The agent dies with its word to the server on its lips: the server has not heard it, or the agent does not know that
// it has.
struct CrashAtReport {
  bool withdrawn;  // The report is of a removal.
  bool heard;      // By the server.
};

class AgentKilledAtReport : public AgentFaults, public testing::WithParamInterface<CrashAtReport> {
 protected:
  static constexpr const char* kName = "iprc-10-96-1-50";
};

INSTANTIATE_TEST_SUITE_P(
    Each, AgentKilledAtReport,
    testing::Values(CrashAtReport{.withdrawn = false, .heard = false}, CrashAtReport{.withdrawn = false, .heard = true},
                    CrashAtReport{.withdrawn = true, .heard = false}, CrashAtReport{.withdrawn = true, .heard = true}),
    [](const auto& of) {
      return fmt::format("{}_{}", of.param.withdrawn ? "withdrawn" : "offered", of.param.heard ? "heard" : "unheard");
    });

TEST_P(AgentKilledAtReport, B4_the_report_follows_the_read_back_and_repeating_it_is_harmless) {
  const auto [withdrawn, heard] = GetParam();
  ask_for_report("t");
  publish(config("iprc-10-96-1-49", "10.96.1.49"));
  if (withdrawn) publish(config(kName, "10.96.1.50"));
  start_behind_proxy();
  ASSERT_TRUE(acknowledges(withdrawn ? kName : "iprc-10-96-1-49"));

  const testbed::CallMatch reports{.verb = "patch", .resource = "nodestates/status"};
  if (heard) {
    proxy_.inject(reports, fault::KillAfter{agent_->pid()});
  } else {
    proxy_.inject(reports, fault::KillBefore{agent_->pid()});
  }
  if (withdrawn) {
    withdraw(kName);
  } else {
    publish(config(kName, "10.96.1.50"));
  }
  const auto ended = agent_->wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  ASSERT_EQ(ended->signal, SIGKILL);
  const std::string left = rules();
  EXPECT_EQ(left.contains(line("10.96.1.50")), !withdrawn) << "it was done before it was told";
  EXPECT_EQ(reported_epoch() >= version_of(kName), heard);
  const std::string version = field("nodestate", kNode, ".metadata.resourceVersion");

  const testbed::Process& changes = watch_rules();
  start_behind_proxy();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  EXPECT_TRUE(acknowledges(kName));
  EXPECT_EQ(rules(), left);
  EXPECT_THAT(changes.output(), Not(HasSubstr("10.96.1.50"))) << "nothing was done twice";
  if (!heard) return;
  EXPECT_EQ(field("nodestate", kNode, ".metadata.resourceVersion"), version) << "nor told twice";
}

// Its labels are what an object asks for; whether the agent sees the change or finds it.
TEST_F(AgentFaults, E4_a_node_that_leaves_a_selector_loses_its_rules_at_once_or_at_the_next_start) {
  ask_for_report("t");
  for (const char* address : {"10.96.1.50", "10.96.1.51"}) {
    auto object = config(fmt::format("iprc-{}", address), address);
    object.spec.node_selector.set(address == std::string("10.96.1.50") ? "zone" : "rack", "a");
    publish(object);
  }
  kubectl({"label", "node", kNode, "rack=a"});
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.51"));
  kubectl({"label", "node", kNode, "zone=b", "--overwrite"});
  EXPECT_TRUE(rule_goes("10.96.1.50"));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.51")));

  agent_->kill();
  kubectl({"label", "node", kNode, "rack-"});
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.51")));
  start_agent();
  EXPECT_TRUE(rule_goes("10.96.1.51"));
  EXPECT_TRUE(becomes_reported(".holdsNothing", "true"));
}

// Much happened while it was off; nobody has told it of the removals.
TEST_F(AgentFaults, E5_a_node_back_with_its_old_kernel_is_right_before_it_is_ready) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.51"));
  agent_->kill();
  kubectl({"delete", "ipruleconfig", "iprc-10-96-1-50"});
  publish(config("iprc-10-96-1-52", "10.96.1.52"));
  const testbed::Process& changes = watch_rules();
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  const std::string now = rules();
  EXPECT_THAT(now, Not(HasSubstr("10.96.1.50")));
  EXPECT_THAT(now, HasSubstr(line("10.96.1.51")));
  EXPECT_THAT(now, HasSubstr(line("10.96.1.52")));
  EXPECT_THAT(changes.output(), Not(HasSubstr("10.96.1.51"))) << "what was right was let be";
}

// As after power is back: another boot, an empty kernel. What the report said of the last boot is no longer true.
TEST_F(AgentFaults, E5_a_node_back_with_an_empty_kernel_is_right_before_it_is_ready_and_says_which_boot_it_is) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(becomes_reported(".counts.rules", "1"));
  const std::string last_boot = reported(".bootID");
  ASSERT_NE(last_boot, "");
  agent_->kill();

  auto again = world_->add_host("edge-1-again");
  ASSERT_TRUE(again) << again.error().message();
  node_ = *again;
  ASSERT_TRUE(world_->plug(*node_, "eth0", world_->here(), "edge-1-again", cluster_.bridge()));
  ASSERT_TRUE(node_->add_address("eth0", lab::InterfaceAddress::of("172.30.77.22/24")));
  const testbed::TempFolder folder;
  const std::string boot = "0f0f0f0f-0000-4000-8000-000000000001";
  ASSERT_TRUE(base::write_file(folder / "boot_id", boot + "\n"));
  start_agent({}, {"unshare", "--mount", "sh", "-c",
                   R"(mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@")", (folder / "boot_id").native()});
  ASSERT_TRUE(answers("/ready", "200 OK"));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  EXPECT_TRUE(becomes_reported(".bootID", boot));
  EXPECT_TRUE(acknowledges("iprc-10-96-1-50"));
}

// Whoever has it still may be a thief; whoever has it by mistake must do no harm.
TEST_F(AgentFaults, J4_the_token_of_a_deleted_pod_is_refused_and_its_agent_says_so_and_keeps_the_kernel) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({}, {}, account_of_pod_on(kNode));
  ASSERT_TRUE(answers("/ready", "200 OK"));
  kubectl({"delete", "pod", fmt::format("agent-on-{}", kNode), "--force", "--grace-period=0"});
  ASSERT_TRUE(cluster_.api_server().restart());  // It asks who somebody is when a call begins, and remembers it.
  EXPECT_TRUE(answers("/ready", "[!]watch: NoAccess"));
  EXPECT_THAT(ask("/ready"), HasSubstr("200 OK")) << "what it knows is in the kernel";
  EXPECT_THAT(agent_->output(), HasSubstr("Unauthorized"));

  const std::string version = field("nodestate", kNode, ".metadata.resourceVersion");
  withdraw("iprc-10-96-1-50");
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50")) << "what it knew last still counts";
  agent_->signal(SIGTERM);
  ASSERT_TRUE(agent_->wait_exit(kBound));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50"))) << "nobody has ordered a removal";
  EXPECT_EQ(field("nodestate", kNode, ".metadata.resourceVersion"), version);
}

// What it has to remember is in the kernel and at the API server.
TEST_F(AgentFaults, I3_where_nothing_can_be_written_an_agent_does_all_its_work) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent({}, {"unshare", "--mount", "sh", "-c", R"(
      for place in $(cut -d' ' -f5 /proc/self/mountinfo); do
        case $place in /proc*|/sys*|/dev*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
      done
      for folder in / /tmp /var/tmp /run "${TMPDIR:-/tmp}"; do touch "$folder/written" 2>/dev/null && exit 99; done
      exec "$@")",
                   "sh"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(becomes_reported(".sync", "InSync"));
  EXPECT_TRUE(agent_->running());
}

// Whatever it would open anew fails: connections to the server, and sockets to the kernel.
TEST_F(AgentFaults, I4_without_descriptors_nothing_is_lost_and_all_goes_on_when_there_are_some) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  const auto limit = [&](const std::string& most) {
    const auto done =
        testbed::run({.arguments = {"prlimit", fmt::format("--pid={}", agent_->pid()), "--nofile=" + most}}, 10s);
    ASSERT_TRUE(done && done->exit.ok());
  };
  limit("3:");
  ASSERT_TRUE(cluster_.api_server().restart());
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  EXPECT_TRUE(eventually("it is told", kBound, [&] { return agent_->output().contains("Too many open files"); }));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  EXPECT_TRUE(agent_->running());

  limit("1024:");
  EXPECT_TRUE(rule_comes_back("10.96.1.51"));
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(answers("/ready", "200 OK"));
  EXPECT_TRUE(acknowledges("iprc-10-96-1-51"));
}

TEST_F(AgentFaults, I4_without_a_local_port_rules_are_kept_and_repaired_until_there_is_one) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  // One port is left, and nobody may have it.
  ASSERT_TRUE(node_->set_sysctl("net/ipv4/ip_local_port_range", "40000 40000"));
  ASSERT_TRUE(node_->set_sysctl("net/ipv4/ip_local_reserved_ports", "40000"));
  ASSERT_TRUE(cluster_.api_server().restart());
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  EXPECT_TRUE(
      eventually("it is told", kBound, [&] { return agent_->output().contains("Cannot assign requested address"); }));
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(agent_->running());

  ASSERT_TRUE(node_->set_sysctl("net/ipv4/ip_local_port_range", "32768 60999"));
  EXPECT_TRUE(rule_comes_back("10.96.1.51"));
  EXPECT_TRUE(acknowledges("iprc-10-96-1-51"));
}

// Whatever it was about to do, it has not begun: the next one finds everything as it was.
TEST_F(AgentFaults, I4_without_threads_an_agent_ends_and_leaves_the_kernel_to_the_next) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ip({"rule", "add", "from", "10.96.1.77", "lookup", "100", "priority", "1000", "protocol", "183"});
  const std::string before = rules();
  start_agent({}, {"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=clone,clone3", "-e",
                   "inject=clone,clone3:error=EAGAIN:when=2+"});
  const auto ended = agent_->wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_FALSE(ended->ok());
  EXPECT_EQ(rules(), before);
  start_agent();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(rule_goes("10.96.1.77"));
}

// A process that runs for a moment now and then, as under the smallest of quotas.
class Starved {
 public:
  explicit Starved(pid_t process)
      : thread_([process](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            ::kill(process, SIGSTOP);
            std::this_thread::sleep_for(95ms);
            ::kill(process, SIGCONT);
            std::this_thread::sleep_for(5ms);
          }
        }) {}

 private:
  std::jthread thread_;
};

TEST_F(AgentFaults, I5_with_hardly_any_processor_time_all_is_done_and_nothing_is_lost) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(answers("/ready", "200 OK"));
  const testbed::Process& changes = watch_rules();
  const Starved starved(agent_->pid());
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  EXPECT_TRUE(rule_appears("10.96.1.51"));
  EXPECT_TRUE(acknowledges("iprc-10-96-1-51"));
  EXPECT_THAT(changes.output(), Not(HasSubstr("10.96.1.50")));
  withdraw("iprc-10-96-1-51");
  EXPECT_TRUE(rule_goes("10.96.1.51"));
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(answers("/health", "200 OK"));
}

}  // namespace
}  // namespace cluster_test
