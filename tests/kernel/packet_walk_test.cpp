// The walk of `iprulectl explain` against the kernel's own lookup: random packets over random rules and routes, as they
// were read from the kernel and as they were read from what `ip -j` printed of it.
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/state_folder.h"
#include "kernel/observe.h"
#include "kernel/rtnl/route_query.h"
#include "kernel/rtnl/rule.h"
#include "lab/temp_folder.h"
#include "path/walk.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

constexpr int kRuleSets = 50;
constexpr int kPacketsPerFamily = 100;

class PacketWalk : public RouteWorld {
 protected:
  void SetUp() override {
    RouteWorld::SetUp();
    run(R"(ip -batch - <<END
link add in0 type veth peer name far2
link set dev far2 addrgenmode none up
link set dev in0 addrgenmode none up
addr add 10.0.2.2/24 dev in0
addr add fd00:2::2/64 dev in0 nodad
END
for setting in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 1 > /proc/sys/net/$setting; done
for dev in all in0; do echo 0 > /proc/sys/net/ipv4/conf/$dev/rp_filter; done
)");
  }

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  template <typename T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[below(N)];
  }
  bool chance(unsigned one_in) { return below(one_in) == 0; }

  // Few values, so that packets, rules and routes meet often.
  net::Address address(net::Family family, bool destination) {
    const unsigned low = below(4);
    const unsigned middle = below(3);
    if (family == v4) {
      return net::Address::parse(fmt::format("{}.{}.{}", destination ? "198.18" : "10.244", middle, low + 1)).value();
    }
    return net::Address::parse(fmt::format("2001:db8:{}:{}::{}", destination ? "18" : "244", middle, low + 1)).value();
  }
  net::Prefix prefix(net::Family family, bool destination) {
    constexpr std::array<int, 6> kLengths4 = {8, 15, 16, 24, 30, 32};
    constexpr std::array<int, 6> kLengths6 = {16, 32, 48, 64, 126, 128};
    return {address(family, destination), one_of(family == v4 ? kLengths4 : kLengths6)};
  }

  state::Rule rule(net::Family family) {
    state::Rule rule{.family = family, .priority = 100 + below(300), .protocol = 183};
    state::Selector& selector = rule.selector;
    if (chance(2)) selector.from = prefix(family, false);
    if (chance(3)) selector.to = prefix(family, true);
    if (chance(6)) selector.iif = net::InterfaceName::parse(one_of<const char*, 3>({"in0", "lo", "gone"})).value();
    if (chance(3)) selector.mark = state::Mark{.value = one_of<unsigned, 2>({0x100, 0x200}), .mask = 0x3f00};
    if (chance(6)) selector.ip_protocol = one_of<std::uint8_t, 2>({6, 17});
    if (chance(6)) selector.dport = state::PortRange{.first = 80, .last = one_of<std::uint16_t, 2>({80, 443})};
    selector.invert = chance(8);
    switch (below(12)) {
      case 0:
        rule.action = state::RuleAction::go_to;
        rule.target = rule.priority + 1 + below(50);
        break;
      case 1:
        rule.action = one_of<state::RuleAction, 4>({state::RuleAction::blackhole, state::RuleAction::unreachable,
                                                    state::RuleAction::prohibit, state::RuleAction::nop});
        break;
      default:
        rule.table = one_of<std::uint32_t, 5>({100, 101, 102, 103, state::kTableMain});
        if (chance(3)) rule.suppress_prefixlength = one_of<std::uint8_t, 3>({0, 16, 24});
    }
    return canonical(rule);
  }

  state::RouteHop hop(net::Family family) {
    const unsigned uplink = below(2);
    state::RouteHop hop{.dev = net::InterfaceName::parse(uplink == 0 ? "eth0" : "eth1").value()};
    if (chance(4)) return hop;
    const unsigned low = 10 + below(3);
    hop.via = net::Address::parse(family == v4  ? fmt::format("10.0.{}.{}", uplink, low)
                                  : uplink == 0 ? fmt::format("fd00::{}", low)
                                                : fmt::format("fd00:1::{}", low))
                  .value();
    return hop;
  }

  state::Route route(net::Family family) {
    state::Route route{.family = family, .table = one_of<std::uint32_t, 5>({100, 101, 102, 103, state::kTableMain})};
    route.to = chance(4) ? net::Prefix(address(family, true), 0) : prefix(family, true);
    route.metric = one_of<std::uint32_t, 3>({10, 20, 30});
    route.protocol = 183;
    if (chance(5)) {
      route.type = one_of<state::RouteType, 4>({state::RouteType::blackhole, state::RouteType::unreachable,
                                                state::RouteType::prohibit, state::RouteType::throw_back});
    } else {
      route.hops.push_back(hop(family));
      if (route.hops[0].via && chance(4)) route.hops.push_back(hop(family));
      if (!route.hops[0].via) route.scope = family == v4 ? state::kScopeLink : state::kScopeGlobal;
    }
    return canonical(route);
  }

  path::Packet packet(net::Family family) {
    path::Packet packet{.to = address(family, true)};
    if (chance(3)) {  // This host's own.
      if (chance(2)) packet.from = net::Address::parse(family == v4 ? "10.0.0.2" : "fd00::2").value();
    } else {
      packet.from = address(family, false);
      packet.iif = net::InterfaceName::parse("in0").value();
    }
    if (packet.from.family() != family) packet.from = net::Address::parse("::").value();
    packet.mark = one_of<unsigned, 4>({0, 0x100, 0x200, 0x4100});
    packet.ip_protocol = one_of<std::uint8_t, 2>({6, 17});
    packet.dport = one_of<std::uint16_t, 4>({0, 80, 443, 8080});
    return packet;
  }

  // What the kernel refuses (the same key twice, a gateway it cannot reach) is simply not there.
  template <typename Object>
  void try_add(const base::Result<Message>& message, const Object& object, std::vector<Object>& added) {
    if (message && socket().transact(*message)) added.push_back(object);
  }
  void fill(const LinkTable& links) {
    for (const net::Family family : {v4, v6}) {
      for (int i = 0; i < 14; ++i) {
        const state::Route wanted = route(family);
        try_add(encode_add(wanted, links), wanted, routes_);
      }
      for (int i = 0; i < 12; ++i) {
        const state::Rule wanted = rule(family);
        try_add(rtnl::encode_add(wanted, true), wanted, rules_);
      }
    }
  }
  void empty(const LinkTable& links) {
    for (const auto& rule : rules_) ASSERT_TRUE(socket().transact(rtnl::encode_remove(rule).value()));
    for (const auto& route : routes_) ASSERT_TRUE(socket().transact(encode_remove(route, links).value()));
    rules_.clear();
    routes_.clear();
  }

  // What `explain --offline` would see.
  state::NetState dumped() {
    run(fmt::format(
        "cd '{}'; ip -j rule >rule.json; ip -6 -j rule >rule6.json; ip -j route show table all >route.json; "
        "ip -j -d addr >addr.json",
        dumps_.path().native()));
    const auto out = cli::read_state_folder(dumps_.path());
    EXPECT_TRUE(out) << out.error().message();
    return out.value_or(cli::DumpedHost()).state;
  }

  lab::TempFolder dumps_;
  std::mt19937 random_{20260101};
  std::vector<state::Rule> rules_;
  std::vector<state::Route> routes_;
};

std::string describe(const path::Packet& packet, const path::Walk& walk, const state::NetState& state) {
  std::string out = fmt::format("{} -> {} iif {} mark {:#x} proto {} dport {}\n", packet.from.text(), packet.to.text(),
                                packet.iif.text(), packet.mark, packet.ip_protocol, packet.dport);
  for (const path::Step& step : walk.steps) {
    out += fmt::format("  {} -> {}\n", text(*step.rule), static_cast<int>(step.effect));
  }
  for (const state::Route& route : state.routes) {
    if (route.family == packet.to.family() && route.table != state::kTableLocal) out += "  " + text(route) + "\n";
  }
  return out;
}

TEST_F(PacketWalk, agrees_with_the_kernel_on_10000_random_packets) {
  const LinkTable known = links();
  std::array<int, 8> verdicts{};
  int agreed = 0;
  for (int set = 0; set < kRuleSets; ++set) {
    fill(known);
    const auto seen = observe(socket(), {}, {.routing = true, .tables = {100, 101, 102, 103, 253, 254, 255}}).value();
    const state::NetState& state = state_of(seen);
    const state::NetState printed = dumped();
    for (int i = 0; i < 2 * kPacketsPerFamily; ++i) {
      const path::Packet asked = packet(i % 2 == 0 ? v4 : v6);
      const path::Walk walk = path::walk(state, asked);
      const auto kernel = ask_route(socket(), asked, known);
      ASSERT_TRUE(kernel) << kernel.error().message() << "\n" << describe(asked, walk, state);
      ASSERT_TRUE(agree(walk.verdict, *kernel)) << "set " << set << ": the walk says it " << text(walk.verdict)
                                                << ", the kernel that it " << text(*kernel) << "\n"
                                                << describe(asked, walk, state);
      ASSERT_TRUE(walk.doubts.empty());
      const path::Walk offline = path::walk(printed, asked);
      ASSERT_TRUE(agree(offline.verdict, *kernel)) << "set " << set << ": by dumps it " << text(offline.verdict)
                                                   << ", for the kernel it " << text(*kernel) << "\n"
                                                   << describe(asked, offline, printed);
      ASSERT_TRUE(offline.doubts.empty()) << offline.doubts.front();
      ++verdicts.at(static_cast<std::size_t>(walk.verdict.kind));
      ++agreed;
    }
    empty(known);
  }
  using Kind = path::Verdict::Kind;
  const auto count = [&](Kind kind) { return verdicts.at(static_cast<std::size_t>(kind)); };
  fmt::print(
      "walk, walk over dumps and kernel agree on {} packets over {} rule sets: {} left, {} dropped, {} prohibited, {} "
      "unreachable\n",
      agreed, kRuleSets, count(Kind::leaves), count(Kind::dropped), count(Kind::prohibited), count(Kind::unreachable));
  EXPECT_EQ(agreed, 10'000);
  for (const Kind kind : {Kind::leaves, Kind::dropped, Kind::prohibited, Kind::unreachable})
    EXPECT_GT(count(kind), 100);
}

}  // namespace
}  // namespace kernel::rtnl
