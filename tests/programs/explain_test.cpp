// `iprulectl explain` on a host with two uplinks, asked of the real kernel.
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/world.h"
#include "testbed/eventually.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class Explain : public testing::Test {
 protected:
  void SetUp() override {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto host = world_->add_host("worker-1");
    ASSERT_TRUE(host) << host.error().message();
    host_ = *host;
    const auto made = run({"sh", "-ec", R"(
for link in eth0 eth1 cni0; do
  ip link add $link type veth peer name far-$link
  ip link set far-$link up
  ip link set $link up
  echo 0 > /proc/sys/net/ipv4/conf/$link/rp_filter
done
echo 1 > /proc/sys/net/ipv4/ip_forward
ip addr add 10.0.0.11/24 dev eth0
ip addr add 198.51.100.11/24 dev eth1
ip addr add 10.244.1.1/24 dev cni0
ip route add default via 10.0.0.1
ip route add default via 198.51.100.1 table 100
ip rule add from 10.96.23.17 lookup 100 priority 1000 protocol 183
)"});
    ASSERT_TRUE(made.exit.ok()) << made.errors;
  }

  testbed::Finished run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    const auto done = testbed::run(
        {.arguments = std::move(arguments), .environment = std::move(environment), .network = host_->network()}, 30s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  testbed::Finished explain(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {IPRULECTL, "explain"});
    return run(std::move(arguments));
  }

  std::optional<lab::World> world_;
  lab::Host* host_ = nullptr;
};

TEST_F(Explain, a_packet_is_followed_as_if_manifests_were_applied) {
  testbed::TempFolder folder;
  ASSERT_TRUE(base::write_file(folder / "x.yaml", R"(
kind: IPRule
metadata: {name: public}
spec: {cidrs: [203.0.113.0/24], table: 100, priority: 900, source: {modes: [Reply]}}
---
kind: Service
metadata: {name: frontend, namespace: shop}
spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}
status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}
)"));
  const std::string before = run({"ip", "rule"}).output;
  const auto done = explain(
      {"--from", "10.244.1.7", "--to", "198.18.7.9", "--reply-of", "203.0.113.45", "-f", folder.path().native()});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("marked by table inet iprule"));
  EXPECT_THAT(done.output, HasSubstr("  rule 900  from all fwmark 0x100/0x3f00 lookup 100 proto 183"));
  EXPECT_THAT(done.output, HasSubstr("Verdict  leaves by eth1 via 198.51.100.1 (table 100)\n"
                                     "Kernel   not asked: this is how it would be, once applied\n"));
  EXPECT_THAT(done.output, testing::Not(HasSubstr("from 10.96.23.17"))) << "the rule of now would be gone";
  EXPECT_EQ(run({"ip", "rule"}).output, before);
}

// So many would be marked; but what comes back to a marked packet, a strict filter on its uplink would drop.
TEST_F(Explain, as_if_manifests_were_applied_a_strict_uplink_keeps_its_sources_on_rules) {
  testbed::TempFolder folder;
  std::string manifests =
      "kind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.0.0/16], table: 100, priority: 900}\n";
  for (int i = 0; i < 300; ++i) {
    manifests += fmt::format(
        "---\nkind: Service\nmetadata: {{name: web-{0}, namespace: shop}}\n"
        "spec: {{type: LoadBalancer, clusterIPs: [10.96.{1}.{2}]}}\n"
        "status: {{loadBalancer: {{ingress: [{{ip: 203.0.{1}.{2}}}]}}}}\n",
        i, i / 200, i % 200 + 1);
  }
  ASSERT_TRUE(base::write_file(folder / "x.yaml", manifests));
  const auto supposed = [&] {
    return explain({"--from", "10.96.0.1", "--to", "198.18.7.9", "--iif", "cni0", "-f", folder.path().native()}).output;
  };
  EXPECT_THAT(supposed(), HasSubstr("  rule 900  from all fwmark 0x100/0x3f00 lookup 100 proto 183"));
  ASSERT_TRUE(run({"sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/eth1/rp_filter"}).exit.ok());
  EXPECT_THAT(supposed(), HasSubstr("  rule 900  from 10.96.0.1 lookup 100 proto 183"));
}

TEST_F(Explain, a_pods_reply_passes_the_rule_for_the_cluster_ip_by) {
  const auto done = explain({"--from", "10.244.1.7", "--to", "198.18.7.9"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output,
            "10.244.1.7 -> 198.18.7.9 tcp, comes in by cni0 (its way back; --iif names another)\n"
            "  rule 0      from all lookup local proto kernel     no route\n"
            "  rule 1000   from 10.96.23.17 lookup 100 proto 183  no match: source is 10.244.1.7\n"
            "  rule 32766  from all lookup main proto kernel      default via 10.0.0.1 dev eth0 proto boot\n"
            "Verdict  leaves by eth0 via 10.0.0.1 (table main)\n"
            "Kernel   agrees\n");
}

// What the host itself says, and what its dumps say of it elsewhere.
TEST_F(Explain, dumps_of_a_host_tell_what_its_kernel_tells) {
  testbed::TempFolder dumps;
  const auto dumped =
      run({"sh", "-ec",
           fmt::format("cd {}; ip -j rule >rule.json; ip -6 -j rule >rule6.json; ip -j route show table "
                       "all >route.json; ip -j -d addr >addr.json; nft -j list ruleset >nft.json",
                       dumps.path().native())});
  ASSERT_TRUE(dumped.exit.ok()) << dumped.errors;
  const std::vector<std::vector<std::string>> packets = {
      {"--from", "10.244.1.7", "--to", "198.18.7.9"},
      {"--from", "10.96.23.17", "--to", "198.18.7.9", "--iif", "cni0"},
      {"--to", "10.244.1.7"},
      {"--to", "198.51.100.11"}};
  for (const auto& packet : packets) {
    const auto story = [&](std::vector<std::string> more) {
      more.insert(more.begin(), packet.begin(), packet.end());
      const auto done = explain(more);
      EXPECT_EQ(done.exit.code, 0) << done.errors;
      return done.output.substr(done.output.find("Verdict"));
    };
    const std::string here = story({});
    EXPECT_THAT(here, HasSubstr("\nKernel   agrees\n"));
    EXPECT_EQ(story({"--offline", "--state", dumps.path().native()}),
              here.substr(0, here.find("Kernel")) + "Kernel   not asked: this is what the dumps say\n");
  }
  EXPECT_THAT(explain({"--to", "198.18.7.9", "--offline"}).errors, HasSubstr("--offline needs --state"));
  EXPECT_THAT(explain({"svc/frontend", "--offline"}).errors, HasSubstr("--offline is for a packet"));
  EXPECT_EQ(explain({"--to", "198.18.7.9", "--state", dumps.path().native(), "--live", "1"}).exit.code, 2);
}

TEST_F(Explain, a_mark_takes_the_other_uplink) {
  ASSERT_TRUE(run({"ip", "rule", "add", "fwmark", "0x100/0x3f00", "lookup", "100", "priority", "999"}).exit.ok());
  const auto done = explain({"--from", "10.244.1.7", "--to", "198.18.7.9", "--mark", "0x4100"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Verdict  leaves by eth1 via 198.51.100.1 (table 100)\nKernel   agrees\n"));
}

TEST_F(Explain, a_reply_takes_the_uplink_that_our_table_marks_it_for) {
  testbed::TempFolder folder;
  ASSERT_TRUE(
      base::write_file(folder / "shop.yaml",
                       "kind: IPRule\nmetadata: {name: public}\n"
                       "spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [Reply]}}\n"
                       "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\nspec: {type: LoadBalancer}\n"
                       "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n"));
  const auto applied = run({IPRULE_AGENT, "standalone", "--once", folder.path().native()});
  ASSERT_TRUE(applied.exit.ok()) << applied.errors;
  const auto done = explain({"--from", "10.244.1.7", "--to", "198.18.7.9", "--reply-of", "203.0.113.45"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("mark 0x100, comes in by cni0, marked by table inet iprule"));
  EXPECT_THAT(done.output, HasSubstr("Verdict  leaves by eth1 via 198.51.100.1 (table 100)\nKernel   agrees\n"));
  EXPECT_THAT(explain({"--from", "10.244.1.7", "--to", "198.18.7.9", "--reply-of", "203.0.113.46"}).output,
              HasSubstr("Note     replies of connections to 203.0.113.46 get no mark here"));
}

TEST_F(Explain, a_source_that_the_reverse_path_filter_refuses_is_told_with_its_code) {
  ASSERT_TRUE(run({"sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/eth1/rp_filter"}).exit.ok());
  const auto done = explain({"--from", "192.0.2.1", "--to", "198.18.7.9", "--iif", "eth1"});
  EXPECT_EQ(done.exit.code, 1);
  EXPECT_THAT(done.output, StartsWith("Rules and routes have a way for it, but the kernel does not take it"));
  EXPECT_THAT(done.output, HasSubstr("Note     "));
  EXPECT_THAT(done.output, HasSubstr("IPR0310"));
}

TEST_F(Explain, wrong_words_are_named_by_their_flag) {
  EXPECT_THAT(explain({"--to", "198.18.7"}).errors, StartsWith("iprulectl: --to: "));
  const auto device = explain({"--from", "10.244.1.7", "--to", "198.18.7.9", "--iif", "nowhere0"});
  EXPECT_EQ(device.exit.code, 2);
  EXPECT_EQ(device.errors, "iprulectl: --iif: this host has no device nowhere0\n");
}

TEST_F(Explain, is_for_programs_too) {
  const auto done = explain({"--from", "10.244.1.7", "--to", "198.18.7.9", "-o", "json"});
  EXPECT_THAT(done.output, HasSubstr(R"("kind":"Explanation")"));
  EXPECT_THAT(done.output, HasSubstr(R"("hops":[{"dev":"eth0","via":"10.0.0.1"}])"));
  EXPECT_THAT(done.output, HasSubstr(R"("agree":true)"));
}

// Waits for packets of a flow to 198.18.7.9, on which nothing happens but by `send`.
class ExplainLive : public Explain {
 protected:
  // Started, and its table is there: what is sent from now on is seen.
  testbed::Process& start(const std::string& patience) {
    auto started = host_->start({.arguments = {IPRULECTL, "explain", "--to", "198.18.7.9", "--proto", "udp", "--dport",
                                               "4000", "--live", "2", "--request-timeout", patience}});
    EXPECT_TRUE(started) << started.error().message();
    EXPECT_TRUE(testbed::eventually("it watches", 20s, [&] { return tables().contains("table inet iprule-trace-"); }));
    return **started;
  }
  std::string tables() { return run({"nft", "list", "tables"}).output; }
  void send(int port) {
    EXPECT_TRUE(run({"bash", "-c", fmt::format("echo x > /dev/udp/198.18.7.9/{}", port)}).exit.ok());
  }
};

TEST_F(ExplainLive, real_packets_are_told_and_the_table_is_gone) {
  ASSERT_TRUE(
      run({"nft", "add table ip others { chain out { type filter hook output priority 0; meta mark set 7; }; }"})
          .exit.ok());
  const std::string before = run({"nft", "list", "ruleset"}).output;
  testbed::Process& live = start("60s");
  send(4001);
  send(4000);
  send(4000);
  const auto end = live.wait_exit(20s);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->code, 0) << live.output() << live.errors();
  EXPECT_THAT(live.output(), HasSubstr("Verdict  leaves by eth0 via 10.0.0.1 (table main)\nKernel   agrees\n"
                                       "Live     2 of 2 packets seen\n  1  10.0.0.11 -> 198.18.7.9 udp from port "));
  EXPECT_THAT(live.output(), HasSubstr(" to port 4000, sent by this host\n       ip others out  rule "));
  EXPECT_THAT(live.output(), HasSubstr("mark 0x7\n"));
  EXPECT_THAT(live.output(), HasSubstr("     leaves by eth0, mark 0x7\n"));
  EXPECT_EQ(run({"nft", "list", "ruleset"}).output, before);
}

TEST_F(ExplainLive, one_that_goes_otherwise_is_worth_attention) {
  testbed::Process& live = start("60s");
  ASSERT_TRUE(run({"ip", "route", "replace", "default", "via", "198.51.100.1"}).exit.ok());
  send(4000);
  send(4000);
  const auto end = live.wait_exit(20s);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->code, 1) << live.output();
  EXPECT_THAT(live.output(), HasSubstr("     leaves by eth1\nLive     2 of 2 went otherwise than the verdict says\n"));
}

TEST_F(ExplainLive, nothing_is_left_when_it_is_killed) {
  testbed::Process& live = start("60s");
  live.signal(SIGKILL);
  EXPECT_TRUE(testbed::eventually("the table is gone", 20s, [&] { return tables().empty(); })) << tables();
}

TEST_F(ExplainLive, none_in_time_has_a_code_of_its_own) {
  const auto done = explain({"--to", "198.18.7.9", "--live", "1", "--request-timeout", "1s"});
  EXPECT_EQ(done.exit.code, 4) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Live     0 of 1 packets seen within 1 s\n"));
  EXPECT_EQ(explain({"--to", "198.18.7.9", "--live", "0"}).exit.code, 2);
  EXPECT_EQ(explain({"IPR0301", "--live", "1"}).errors, "iprulectl: explain: --live is for a packet: --from, --to\n");
}

TEST_F(ExplainLive, who_may_not_trace_is_told_what_it_takes) {
  const auto done = run({"setpriv", "--bounding-set=-net_admin", IPRULECTL, "explain", "--to", "198.18.7.9", "--live",
                         "1", "--request-timeout", "1s"});
  EXPECT_EQ(done.exit.code, 3) << done.output;
  EXPECT_THAT(done.errors, StartsWith("iprulectl: --live: packets cannot be traced here: "));
  EXPECT_THAT(done.errors, HasSubstr("; it takes CAP_NET_ADMIN\n"));
}

TEST_F(Explain, has_colour_on_a_terminal_and_nowhere_else) {
  const std::string command = fmt::format("'{}' explain --from 10.244.1.7 --to 198.18.7.9", IPRULECTL);
  const auto on_terminal = [&](const std::string& flags, std::vector<std::string> environment) {
    environment.push_back("SHELL=/bin/sh");
    return run({"script", "-qec", command + flags, "/dev/null"}, std::move(environment)).output;
  };
  EXPECT_THAT(on_terminal("", {"TERM=xterm"}), HasSubstr("\x1b[32magrees\x1b[0m"));
  EXPECT_EQ(on_terminal("", {"TERM=dumb"}).find('\x1b'), std::string::npos);
  EXPECT_EQ(on_terminal("", {"TERM=xterm", "NO_COLOR=1"}).find('\x1b'), std::string::npos);
  EXPECT_EQ(on_terminal(" --color never", {"TERM=xterm"}).find('\x1b'), std::string::npos);
  EXPECT_EQ(explain({"--from", "10.244.1.7", "--to", "198.18.7.9"}).output.find('\x1b'), std::string::npos);
}

}  // namespace
