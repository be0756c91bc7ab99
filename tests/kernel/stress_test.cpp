// Other programs flush, add, delete and flap at full speed while the engine holds a thousand objects of every kind.
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "kernel/netlink/events.h"
#include "kernel/rtnl/rule.h"
#include "testbed/eventually.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using namespace std::chrono_literals;
using state::NetState;

// Each is repeated until the time is over.
const std::map<std::string, std::string> kScripts = {
    {"flush of our rules", "ip rule flush protocol 183; ip -6 rule flush protocol 183"},
    {"rules deleted, copied and made up",
     "ip rule del from 10.8.0.5 lookup 100 priority 500 protocol 183;"
     "ip rule add from 10.8.0.6 lookup 100 priority 500 protocol 183;"
     "ip rule add from 10.99.0.1 lookup 9 priority 77 protocol 183;"
     "ip -6 rule add from fd08::7 lookup 9 priority 500 protocol 183"},
    {"rules of somebody else",
     "ip rule add from 172.16.0.1 lookup 7 priority 300; ip rule del from 172.16.0.1 lookup 7 priority 300"},
    {"flush of the ruleset", "nft -f other.nft"},  // In one transaction with what its owner has.
    {"edits inside our table",
     "nft flush map inet iprule src4; nft add rule inet iprule pre counter; nft delete table inet iprule"},
    {"link flaps", "ip link set eth1 down; ip link set eth1 up"},
    {"routes flushed and replaced",
     "ip route flush table 7 proto 183; ip route replace 192.0.3.0/24 via 10.0.0.9 dev eth0 table 7 proto 183"},
};

constexpr auto* kOtherTable =
    "flush ruleset\n"
    "table inet other {\n"
    "  map m { type ipv4_addr : verdict; elements = { 10.8.0.1 : accept, 10.8.0.2 : accept }; }\n"
    "  chain c { type filter hook prerouting priority mangle; meta mark set meta mark; }\n"
    "}\n";

class Stress : public RouteWorld {
 protected:
  static NetState thousand_objects() {
    NetState out;
    for (int i = 0; i < 500; ++i) out.rules.push_back(rule(v4, fmt::format("10.8.{}.{}", i / 250, i % 250)));
    for (int i = 0; i < 200; ++i) out.rules.push_back(rule(v6, fmt::format("fd08::{:x}", i)));
    out.rules.push_back(state::parse_rule(v4, "600: from all fwmark 0x100/0x3f00 lookup 7 proto 183").value());
    for (int i = 0; i < 50; ++i) {
      out.routes.push_back(route_of(v4, fmt::format("192.0.{}.0/24 via 10.0.0.1 dev eth0 table 7 proto 183", i)));
      out.routes.push_back(route_of(v4, fmt::format("192.1.{}.0/24 via 10.0.1.1 dev eth1 table 7 proto 183", i)));
    }
    out.nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}};
    for (int i = 0; i < 199; ++i) {
      out.nft->sources[net::Address::parse(fmt::format("10.9.0.{}", i)).value()] = 0x100;
    }
    return out;
  }

  static state::Rule rule(net::Family family, const std::string& source) {
    return state::parse_rule(family, fmt::format("500: from {} lookup 100 proto 183", source)).value();
  }

  // What stays where it is unless we harm it: the scripts leave it alone, too.
  static void move_in_somebody_else() {
    run(R"(ip -batch - <<END
rule add from 10.8.0.5 lookup 100 priority 500 protocol static
rule add from 10.8.0.6 lookup 100 priority 501
rule add fwmark 0x100/0x100 lookup 9 priority 400
rule add to 192.0.2.0/24 blackhole priority 1001
route add 198.51.100.0/24 via 10.0.0.1 dev eth0 table 7 proto static
route add default via 10.0.0.1 dev eth0
addr add 10.0.0.77/32 dev eth0
END
ip -6 rule add from fd08::5 lookup 100 priority 500)");
  }
  static std::string everybody_elses() {
    return run(
        "(ip rule; ip -6 rule; ip route show table 7; ip route show dev eth0; ip addr show dev eth0)"
        " | grep -v -e 'proto 183' -e 172.16.0.1; nft list table inet other");
  }

  static std::size_t own(const std::string& command) {
    return static_cast<std::size_t>(std::stoul(run(command + " | grep -c 'proto 183' || true")));
  }
};

// Follows what changes, and counts what the engine did to somebody else's rule or route.
class Tap {
 public:
  explicit Tap(std::uint32_t port) : port_(port) {}

  void drain() {
    const auto seen = events_.drain([this](const Received& event) { note(event); });
    EXPECT_TRUE(seen);
    lost_ = lost_ || (seen && seen->lost);
  }
  std::size_t ours() const { return ours_; }
  std::size_t others() const { return others_; }
  std::size_t harm() const { return harm_; }
  bool lost() const { return lost_; }

 private:
  void note(const Received& event) {
    if (event.port != port_) {
      ++others_;
      return;
    }
    ++ours_;
    std::span<const std::byte> rest = event.payload;
    if (event.type == RTM_NEWROUTE || event.type == RTM_DELROUTE) {
      const auto header = take_header<rtmsg>(rest);
      if (!header || header->rtm_protocol != 183) ++harm_;
      return;
    }
    const auto decoded = decode_rule(event);
    if (!decoded || std::visit([](const auto& rule) { return rule.protocol; }, *decoded) != 183) ++harm_;
  }

  EventSocket events_ =
      EventSocket::open(
          Bus::route, std::array<int, 4>{RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE},
          Monitor::kBuffer)
          .value();
  std::uint32_t port_;
  std::size_t ours_ = 0;
  std::size_t others_ = 0;
  std::size_t harm_ = 0;
  bool lost_ = false;
};

TEST_F(Stress, a_thousand_objects_are_held_against_everybody_and_nobody_is_harmed) {
  const auto length = std::getenv("IPRULE_LONG") != nullptr ? 5min : 10s;  // NOLINT(concurrency-mt-unsafe)
  const testbed::TempFolder folder;
  ASSERT_TRUE(base::write_file(folder / "other.nft", kOtherTable));
  run(fmt::format("nft -f {}", (folder / "other.nft").native()));
  move_in_somebody_else();
  const std::string before = everybody_elses();

  const NetState wanted = thousand_objects();
  ASSERT_EQ(wanted.rules.size() + wanted.routes.size() + wanted.nft->sources.size(), 1000);
  auto engine = Engine::open({}, Engine::Reach::all).value();
  runtime::Signal changed;
  const auto monitor = Monitor::start(engine.port(), changed).value();
  Tap tap(engine.port());
  std::size_t passes = 0;
  std::size_t operations = 0;
  bool settled = false;
  const auto pass = [&] {
    const auto report = engine.converge(wanted, {});
    ASSERT_TRUE(report) << report.error().message();
    ++passes;
    operations += report->outcome.count(Effect::done);
    settled = report->settled() && report->left.obstacles.empty();
    tap.drain();
  };
  pass();
  ASSERT_TRUE(settled);

  std::map<std::string, testbed::Process> scripts;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [name, line] : kScripts) {
    const auto loop =
        fmt::format("cd {}; while :; do {}; echo >>'{}'; done 2>/dev/null", folder.path().native(), line, name);
    scripts.emplace(name, testbed::Process::start({.arguments = {"sh", "-c", loop}}).value());
  }
  std::size_t heap = 0;
  for (auto now = start; now - start < length; now = std::chrono::steady_clock::now()) {
    ASSERT_NO_FATAL_FAILURE(pass());
    (void)changed.wait({}, now + 1s);
    if (heap == 0 && now - start > length / 10) heap = ::mallinfo2().uordblks;
  }
  scripts.clear();
  const std::size_t heap_after = ::mallinfo2().uordblks;

  run("ip link set eth1 up");
  ASSERT_TRUE(testbed::eventually("the kernel is as wanted", 30s, [&] {
    pass();
    return settled;
  }));
  EXPECT_EQ(own("ip rule"), 501);
  EXPECT_EQ(own("ip -6 rule"), 200);
  EXPECT_EQ(own("ip route show table 7"), 100);
  EXPECT_EQ(run("nft list map inet iprule src4 | grep -o goto | wc -l"), "199\n");
  EXPECT_EQ(everybody_elses(), before);
  EXPECT_EQ(tap.harm(), 0);
  EXPECT_FALSE(engine.converge(wanted, {}).value().outcome.count(Effect::done) > 0) << "quiet when right";
#ifndef __SANITIZE_ADDRESS__  // Its heap tells nothing.
  EXPECT_LT(heap_after, heap + (std::size_t{1} << 20U)) << "memory is flat";
#endif

  for (const auto& [name, line] : kScripts) {
    std::error_code error;
    fmt::print("{}: {} times\n", name, std::filesystem::file_size(folder / name, error));
  }
  fmt::print("{} passes, {} operations; events: {} ours, {} of others{}; {} overruns; heap {} KiB, then {} KiB\n",
             passes, operations, tap.ours(), tap.others(), tap.lost() ? ", some lost" : "", monitor->overruns(),
             heap >> 10U, heap_after >> 10U);
}

}  // namespace
}  // namespace kernel::rtnl
