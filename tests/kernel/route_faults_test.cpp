// Rows F and G of the fault catalogue that are about routes and links (tests/FAULTS.md): others change them under the
// engine, or the kernel refuses what it is asked for.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <thread>

#include <fmt/format.h>

#include "kernel/monitor.h"
#include "kernel/netlink/events.h"
#include "testbed/eventually.h"
#include "tests/kernel/engine_world.h"
#include "tests/kernel/refuse_calls.h"

namespace kernel::rtnl {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using state::NetState;

constexpr auto kBound = 30s;

class RouteFaults : public EngineWorld {
 protected:
  static constexpr auto kOutOfReach = "default via 10.9.9.9 dev eth0 table 7 proto 183";

  static NetState with_rule(NetState state, const char* line = "500: from 10.0.0.2 lookup 7 proto 183") {
    state.rules.push_back(state::parse_rule(v4, line).value());
    return state;
  }
  static std::string rules() { return run("ip rule show priority 500"); }
  // The way of a packet that the rule is about.
  static std::string way() { return run("ip -o route get 198.51.100.1 from 10.0.0.2"); }

  // What a loop does: it looks when it is told to, and only then.
  Monitor& monitor() {
    if (!monitor_) monitor_ = Monitor::start(engine().port(), changed_).value();
    return *monitor_;
  }
  testing::AssertionResult is_told(Kind kind) {
    Kinds told;
    const bool told_of_it = testbed::eventually("the kind is told of", kBound, [&] {
      told.add(monitor().take());
      return told.contains(kind);
    });
    return told_of_it ? testing::AssertionSuccess() : testing::AssertionFailure() << "bits " << int{told.bits()};
  }

 private:
  runtime::Signal changed_;
  std::unique_ptr<Monitor> monitor_;
};

TEST_F(RouteFaults, G10_S8_a_rule_waits_until_its_table_has_its_routes) {
  const auto wanted = with_rule(routes({kOutOfReach}));
  const auto report = converge(wanted);
  EXPECT_FALSE(report.settled());
  EXPECT_EQ(rules(), "");
  ASSERT_EQ(report.outcome.results.size(), 2);
  EXPECT_EQ(report.outcome.count(Effect::pending), 2);
  EXPECT_EQ(report.outcome.results[1].status.error().message(),
            "add IPv4 rule 500: from 10.0.0.2 lookup 7 proto 183: waits for "
            "add IPv4 route default via 10.9.9.9 dev eth0 table 7 proto 183");

  run("ip addr add 10.9.9.1/24 dev eth0");
  Listener order({RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE});
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_EQ(order.types(), (std::vector<std::uint16_t>{RTM_NEWROUTE, RTM_NEWRULE}));
}

TEST_F(RouteFaults, S8_a_rule_goes_while_its_routes_are_gone_and_comes_after_them) {
  const auto wanted = with_rule(routes({kDefault}));
  ASSERT_TRUE(converge(wanted).settled());
  run("ip link set eth0 down");
  const auto report = converge(wanted);
  EXPECT_FALSE(report.settled());
  EXPECT_EQ(rules(), "");
  EXPECT_EQ(converge(wanted).outcome.count(Effect::done), 0) << "nothing is done and undone in turns";

  run("ip link set eth0 up");
  Listener order({RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE});
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_EQ(order.types(), (std::vector<std::uint16_t>{RTM_NEWROUTE, RTM_NEWRULE}));

  Listener removal({RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE});
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(removal.types(), (std::vector<std::uint16_t>{RTM_DELRULE, RTM_DELROUTE}));
}

TEST_F(RouteFaults, S8_a_rule_over_a_foreign_route_in_the_place_of_ours_is_not_made) {
  const auto wanted = with_rule(routes({kDefault}));
  ASSERT_TRUE(converge(wanted).settled());
  run("ip route replace default via 10.0.0.9 dev eth0 table 7 proto static");
  const auto report = converge(wanted);
  EXPECT_EQ(rules(), "");
  EXPECT_EQ(table(v4, 7), Lines{"default via 10.0.0.9 dev eth0 table 7 proto static"});
  ASSERT_EQ(report.left.obstacles.size(), 2);
  EXPECT_EQ(report.left.obstacles[1].desired, "rules that look up IPv4 table 7");
}

TEST_F(RouteFaults, S8_the_old_rule_stays_while_the_new_one_waits) {
  ASSERT_TRUE(converge(with_rule(routes({kDefault}))).settled());
  auto wanted = with_rule(routes({kDefault, "default via 10.9.9.9 dev eth0 table 8 proto 183"}),
                          "500: from 10.0.0.2 lookup 8 proto 183");
  converge(wanted);
  EXPECT_EQ(rules(), "500:\tfrom 10.0.0.2 lookup 7 proto 183\n");
  run("ip addr add 10.9.9.1/24 dev eth0");
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_EQ(rules(), "500:\tfrom 10.0.0.2 lookup 8 proto 183\n");
}

TEST_F(RouteFaults, G1_routes_are_back_after_every_flap_of_their_link) {
  const auto wanted = with_rule(routes({kDefault}, {"default via fe80::1 dev eth0 table 7 proto 183"}));
  ASSERT_TRUE(converge(wanted).settled());
  EXPECT_TRUE(monitor().take().empty());
  for (int flap = 0; flap < 5; ++flap) {
    Listener routes4({RTNLGRP_IPV4_ROUTE});
    run("ip link set eth0 down");
    EXPECT_EQ(routes4.count(RTM_DELROUTE), 0) << "their loss is told of by the link alone";
    EXPECT_TRUE(is_told(Kind::link));
    converge(wanted);
    EXPECT_EQ(rules(), "");
    run("ip link set eth0 up");
    EXPECT_TRUE(is_told(Kind::link));
    EXPECT_TRUE(converge(wanted).settled());
    EXPECT_EQ(table(v4, 7), Lines{kDefault});
  }
}

TEST_F(RouteFaults, G2_a_renamed_link_leaves_its_routes_waiting_for_the_name_and_on_no_other_device) {
  const auto wanted = with_rule(routes({kDefault}));
  ASSERT_TRUE(converge(wanted).settled());
  EXPECT_TRUE(monitor().take().empty());
  run("ip link set eth0 down; ip link set eth0 name eth9; ip link set eth9 up");
  EXPECT_TRUE(is_told(Kind::link));
  EXPECT_GE(converge(wanted).outcome.count(Effect::pending), 1);
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(rules(), "");

  run("ip link set eth1 down; ip link set eth1 name eth0; ip link set eth0 up");
  EXPECT_GE(converge(wanted).outcome.count(Effect::pending), 1);
  EXPECT_EQ(table(v4, 7), Lines{}) << "another link has the name, and no way to the gateway";

  run("ip link set eth0 down; ip link set eth0 name eth1; ip link set eth9 down; ip link set eth9 name eth0");
  run("ip link set eth0 up");
  EXPECT_TRUE(converge(wanted).settled());
}

TEST_F(RouteFaults, G3_routes_go_with_the_address_they_send_from_and_come_back_with_it) {
  const auto wanted = with_rule(routes({"default dev eth1 table 7 proto 183 scope link src 10.0.0.2"}));
  ASSERT_TRUE(converge(wanted).settled());
  (void)monitor().take();
  run("ip addr del 10.0.0.2/24 dev eth0");
  EXPECT_TRUE(is_told(Kind::address));
  EXPECT_EQ(table(v4, 7).size(), 1) << "the kernel keeps it";
  const auto report = converge(wanted);
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(rules(), "");
  ASSERT_FALSE(report.left.obstacles.empty());
  EXPECT_EQ(report.left.obstacles[0].reason, "src: 10.0.0.2 is no address of this node");

  run("ip addr add 10.0.0.2/24 dev eth0 valid_lft 1000 preferred_lft 1000");  // A lease.
  EXPECT_TRUE(is_told(Kind::address));
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_EQ(table(v4, 7).size(), 1);
}

TEST_F(RouteFaults, G4_a_gateway_out_of_reach_is_waited_for_by_events) {
  const auto wanted = with_rule(routes({kOutOfReach}, {"default via fd00:77::1 dev eth0 table 7 proto 183"}));
  (void)monitor().take();
  const auto report = converge(wanted);
  EXPECT_EQ(report.outcome.count(Effect::failed), 0);
  EXPECT_EQ(report.outcome.results.size(), 3) << "each is tried once";
  const Kinds told = monitor().take();  // The links may still tell of their carrier.
  EXPECT_FALSE(told.contains(Kind::route) || told.contains(Kind::rule)) << "a vain try wakes nobody: there is no loop";
  run("ip addr add 10.9.9.1/24 dev eth0");
  EXPECT_TRUE(is_told(Kind::address));
  EXPECT_EQ(converge(wanted).outcome.count(Effect::done), 2) << "the other family does not hold it up";
  run("ip addr add fd00:77::2/64 dev eth0 nodad");
  EXPECT_TRUE(is_told(Kind::address));
  EXPECT_TRUE(converge(wanted).settled());
}

TEST_F(RouteFaults, G5_another_gateway_or_metric_leaves_one_route_with_one_hop) {
  for (const auto* line : {kDefaultV6, "default via fd00::9 dev eth0 table 7 proto 183 metric 1024",
                           "default via fd00::9 dev eth0 table 7 proto 183 metric 5",
                           "default via fd00:1::1 dev eth1 table 7 proto 183 metric 1024"}) {
    EXPECT_TRUE(converge(routes({}, {line})).settled());
    EXPECT_EQ(table(v6, 7), Lines{line});
  }
}

TEST_F(RouteFaults, G6_routes_of_a_nexthop_that_somebody_removed_are_back_with_it) {
  auto wanted = with_rule(routes({"default nhid 5 table 7 proto 183"}));
  wanted.nexthops.push_back(state::parse_nexthop(v4, "id 5 via 10.0.0.1 dev eth0 proto 183").value());
  ASSERT_TRUE(converge(wanted).settled());
  EXPECT_TRUE(monitor().take().empty()) << "our own doing is no news";
  run("ip nexthop del id 5");
  EXPECT_TRUE(is_told(Kind::nexthop));
  EXPECT_EQ(table(v4, 7), Lines{});
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled()) << text(report.left);
  EXPECT_EQ(report.outcome.count(Effect::done), 2);
  EXPECT_EQ(table(v4, 7), Lines{"default nhid 5 table 7 proto 183"});
}

TEST_F(RouteFaults, G6_what_stands_on_a_nexthop_that_cannot_be_made_waits_and_is_not_refused) {
  auto wanted = with_rule(routes({"default nhid 6 table 7 proto 183"}));
  wanted.nexthops.push_back(state::parse_nexthop(v4, "id 5 via 10.9.9.9 dev eth0 proto 183").value());
  wanted.nexthops.push_back(state::parse_nexthop(v4, "id 6 group 5 proto 183").value());
  const auto report = converge(wanted);
  EXPECT_EQ(report.outcome.count(Effect::pending), 4) << text(report.done);
  run("ip addr add 10.9.9.1/24 dev eth0");
  EXPECT_TRUE(converge(wanted).settled());
}

TEST_F(RouteFaults, G7_a_table_of_which_the_kernel_refuses_a_part_changes_no_lookup) {
  run("ip route add default via 10.0.1.1 dev eth1");
  const std::string before = way();
  const auto wanted = with_rule(routes({"198.51.100.0/24 via 10.0.0.1 dev eth0 table 7 proto 183",
                                        "203.0.113.0/24 nhid 77 table 7 proto 183"}));  // There is no nexthop 77.
  const auto report = converge(wanted);
  EXPECT_GE(report.outcome.count(Effect::failed), 1) << text(report.done);
  EXPECT_EQ(table(v4, 7).size(), 1);
  EXPECT_EQ(way(), before);
}

TEST_F(RouteFaults, G7_without_memory_for_its_routes_a_table_changes_no_lookup) {
  run("ip route add default via 10.0.1.1 dev eth1");
  const std::string before = way();
  auto wanted = with_rule(routes({kDefault}));
  for (int i = 0; i < 100; ++i) {
    wanted.routes.push_back(route_of(v4, fmt::format("192.0.2.{}/32 via 10.0.0.1 dev eth0 table 7 proto 183", i)));
  }
  engine();
  std::thread([&] {
    constexpr std::uint32_t kLong = 2000;  // The routes together; a question or a rule is shorter.
    ASSERT_TRUE(refuse_calls(SYS_sendto, ENOMEM, 2, kLong));
    const auto report = converge(wanted);
    EXPECT_EQ(report.outcome.count(Effect::failed), 101);
    EXPECT_EQ(report.outcome.count(Effect::pending), 1);
    EXPECT_EQ(way(), before);
  }).join();
  EXPECT_TRUE(converge(wanted).settled());
  EXPECT_NE(way(), before);
}

// A network manager that takes what is not its own for left over, whenever a link changes.
class Remover {
 public:
  bool is_ready() const { return ready_; }
  int removals() const { return removals_; }

 private:
  void run(const std::stop_token& stop) {
    const std::array<int, 1> groups = {RTNLGRP_LINK};
    auto events = EventSocket::open(Bus::route, groups).value();
    ready_ = true;
    while (!stop.stop_requested()) {
      pollfd watched{.fd = events.fd(), .events = POLLIN, .revents = 0};
      constexpr int kNowAndThen = 50;  // To see that it shall stop.
      if (::poll(&watched, 1, kNowAndThen) <= 0 || events.drain().value().events == 0) continue;
      if (std::system("ip rule flush protocol 183") == 0) ++removals_;  // NOLINT(concurrency-mt-unsafe)
    }
  }

  std::atomic<bool> ready_{false};
  std::atomic<int> removals_{0};
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

TEST_F(RouteFaults, F3_rules_are_back_whatever_removes_them_at_every_change_of_a_link) {
  const auto wanted = with_rule(routes({kDefault}));
  ASSERT_TRUE(converge(wanted).settled());
  monitor();
  const Remover remover;
  ASSERT_TRUE(testbed::eventually("the remover listens", kBound, [&] { return remover.is_ready(); }));
  for (int flap = 1; flap <= 3; ++flap) {
    const int before = remover.removals();
    run("ip link set eth0 down; ip link set eth0 up");
    EXPECT_TRUE(testbed::eventually("the remover came, and the rule after it", kBound, [&] {
      if (!monitor().take().empty()) converge(wanted);
      return remover.removals() > before && !rules().empty();
    }));
  }
}

// Another program that adds and deletes its own routes as fast as it can, until it is told to rest.
class Churn {
 public:
  Churn(std::vector<state::Route> routes, LinkTable links) : routes_(std::move(routes)), links_(std::move(links)) {}
  void rest() { rests_ = true; }

 private:
  void run(const std::stop_token& stop) {
    auto socket = Socket::open(Bus::route).value();
    while (!stop.stop_requested() && !rests_) {
      for (const bool add : {true, false}) {
        std::vector<Message> messages;
        for (const state::Route& route : routes_) {
          messages.push_back(add ? encode_add(route, links_).value() : encode_remove(route, links_).value());
        }
        socket.transact_all(messages);
      }
    }
  }

  std::vector<state::Route> routes_;
  LinkTable links_;
  std::atomic<bool> rests_ = false;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

TEST_F(RouteFaults, F6_no_verified_view_of_routes_is_wrong_while_others_change_theirs) {
  NetState stable;
  std::vector<state::Route> foreign;
  // Of IPv6 more than fits into one answer of the kernel: between two of them it loses its place.
  for (int i = 0; i < 600; ++i) {
    stable.routes.push_back(
        route_of(v4, fmt::format("198.{}.{}.0/24 dev eth0 table 7 proto 183 scope link", i / 250, i % 250)));
    stable.routes.push_back(route_of(v6, fmt::format("2001:db8:{:x}::/48 dev eth0 table 7 proto 183 metric 1024", i)));
  }
  for (int i = 0; i < 100; ++i) {
    foreign.push_back(route_of(v6, fmt::format("2001:db7:{:x}::/48 dev eth0 table 7 proto static metric 1024", i)));
  }
  ASSERT_TRUE(converge(stable).settled());
  std::ranges::sort(stable.routes);

  Churn churn(foreign, links());
  int verified = 0;
  int unverified = 0;
  int wrong = 0;
  int wrong_but_unverified = 0;
  const auto look = [&] {
    const auto seen = engine().observe({}, stable).value();
    std::vector<state::Route> own;
    for (const state::Route& route : state::state_of(seen).routes) {
      if (route.protocol == 183) own.push_back(route);
    }
    std::ranges::sort(own);
    const bool right = own == stable.routes;
    verified += state::is_verified(seen) ? 1 : 0;
    wrong += state::is_verified(seen) && !right ? 1 : 0;
    if (state::is_verified(seen)) return;
    ++unverified;
    wrong_but_unverified += right ? 0 : 1;
    engine().apply(plan::diff(seen, stable, engine().ownership()), {});  // Does no harm.
  };
  // Both must have been seen, so that this can fail at all: a view that a change has spoilt, and a quiet moment.
  EXPECT_TRUE(testbed::eventually("a wrong view", 120s, [&] { return look(), wrong_but_unverified > 0; }));
  churn.rest();
  EXPECT_TRUE(testbed::eventually("a verified view", kBound, [&] { return look(), verified > 0; }));
  EXPECT_EQ(wrong, 0);
  fmt::print("{} verified views, {} others of which {} wrong\n", verified, unverified, wrong_but_unverified);
}

}  // namespace
}  // namespace kernel::rtnl
