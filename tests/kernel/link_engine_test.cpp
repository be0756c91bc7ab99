// The engine over a VLAN whose parent belongs to others, who do with it what they like. Needs a kernel that has VLANs
// and bonds: the machine's own may not, User-mode Linux does.
#include <chrono>
#include <memory>

#include "kernel/monitor.h"
#include "kernel/rtnl/link.h"
#include "testbed/eventually.h"
#include "testbed/machine.h"
#include "tests/kernel/engine_world.h"

namespace kernel::rtnl {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using state::NetState;

class LinkEngine : public EngineWorld {
 protected:
  static constexpr auto kVlan = "eth0.5 link eth0 up alias iprule:x type vlan protocol 802.1Q id 5";
  static constexpr auto kRoute = "default via 10.5.0.1 dev eth0.5 table 7 proto 183";

  // A VLAN of ours with all that stands on it.
  static NetState steered_over(const char* vlan) {
    NetState out = routes({kRoute});
    out.links.push_back(state::parse_link(vlan).value());
    out.addresses.push_back(state::parse_address("10.5.0.2/24 dev eth0.5 proto 183").value());
    out.rules.push_back(state::parse_rule(v4, "500: from 10.5.0.2 lookup 7 proto 183").value());
    return out;
  }
  static std::string rules() { return run("ip rule show priority 500"); }

  static state::ObservedLink link_in(const Engine::Report& report, std::string_view name) {
    for (const auto& one : state::state_of(report.after).observed_links) {
      if (one.link.name.text() == name) return one;
    }
    return {};
  }

  // What a loop does: it looks when it is told to.
  testing::AssertionResult is_told_of_links() {
    Kinds told;
    return testbed::eventually("a change of a link is told of", 30s, [&] {
      told.add(monitor_->take());
      return told.contains(Kind::link);
    });
  }
  void start_monitor() { monitor_ = Monitor::start(engine().port(), changed_).value(); }

 private:
  runtime::Signal changed_;
  std::unique_ptr<Monitor> monitor_;
};

TEST_F(LinkEngine, G8_a_vlan_whose_parent_goes_down_is_kept_and_its_routes_come_back_with_it) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  const auto wanted = steered_over(kVlan);
  const auto made = converge(wanted);
  ASSERT_TRUE(made.settled()) << text(made.left);
  const auto vlan = link_in(made, "eth0.5");
  start_monitor();
  run("ip link set eth0 down");
  EXPECT_TRUE(is_told_of_links());
  const auto report = converge(wanted);
  EXPECT_FALSE(report.settled());
  EXPECT_EQ(report.outcome.count(Effect::failed), 0) << "it waits for its parent";
  EXPECT_EQ(link_in(report, "eth0.5").index, vlan.index);
  EXPECT_EQ(link_in(report, "eth0.5").link.alias, "iprule:x");
  EXPECT_EQ(rules(), "");
  run("ip link set eth0 up");
  EXPECT_TRUE(is_told_of_links());
  const auto after = converge(wanted);
  EXPECT_TRUE(after.settled()) << text(after.left);
  EXPECT_EQ(link_in(after, "eth0.5").index, vlan.index);
  EXPECT_EQ(table(v4, 7), Lines{kRoute});
}

TEST_F(LinkEngine, G8_a_vlan_follows_the_mtu_of_its_parent_and_what_was_asked_for_waits) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  const auto wanted = steered_over("eth0.5 link eth0 mtu 1400 up alias iprule:x type vlan protocol 802.1Q id 5");
  const auto made = converge(wanted);
  ASSERT_TRUE(made.settled()) << text(made.left);
  const auto vlan = link_in(made, "eth0.5");
  EXPECT_EQ(vlan.link.mtu, 1400);
  start_monitor();
  run("ip link set eth0 mtu 1300");  // The kernel cuts down the MTU of what is on it.
  EXPECT_TRUE(is_told_of_links());
  const auto report = converge(wanted);
  EXPECT_FALSE(report.settled());
  EXPECT_EQ(link_in(report, "eth0.5").link.mtu, 1300);
  EXPECT_EQ(link_in(report, "eth0.5").index, vlan.index);
  EXPECT_EQ(link_in(report, "eth0.5").link.alias, "iprule:x");
  EXPECT_EQ(report.outcome.count(Effect::failed), 0);
  ASSERT_EQ(report.outcome.count(Effect::pending), 1) << "not in a loop: when a link changes again";
  EXPECT_EQ(report.outcome.results[0].status.error().message(),
            "set link eth0.5 link eth0 mtu 1400 up alias iprule:x type vlan protocol 802.1Q id 5: kernel: ERANGE");
  EXPECT_EQ(table(v4, 7), Lines{kRoute});
  EXPECT_NE(rules(), "");
  run("ip link set eth0 mtu 1500");
  EXPECT_TRUE(is_told_of_links());
  const auto after = converge(wanted);
  EXPECT_TRUE(after.settled()) << text(after.left);
  EXPECT_EQ(link_in(after, "eth0.5").link.mtu, 1400);
  EXPECT_EQ(link_in(after, "eth0.5").index, vlan.index);
}

TEST_F(LinkEngine, G8_a_vlan_for_which_no_mtu_was_asked_may_have_any) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  const auto wanted = steered_over(kVlan);
  ASSERT_TRUE(converge(wanted).settled());
  run("ip link set eth0 mtu 1300");
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled() && report.done.empty()) << text(report.done);
  EXPECT_EQ(link_in(report, "eth0.5").link.mtu, 1300);
}

TEST_F(LinkEngine, G8_a_vlan_whose_parent_is_put_into_a_bond_is_kept_with_what_stands_on_it) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  SKIP_UNLESS_MACHINE_HAS("bond");
  const auto wanted = steered_over(kVlan);
  const auto made = converge(wanted);
  ASSERT_TRUE(made.settled()) << text(made.left);
  const auto vlan = link_in(made, "eth0.5");
  start_monitor();
  run("ip link add bond9 type bond mode active-backup; ip link set eth0 down; ip link set eth0 master bond9");
  run("ip link set bond9 up");
  EXPECT_TRUE(is_told_of_links());
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled()) << text(report.left);
  EXPECT_EQ(link_in(report, "eth0.5").index, vlan.index);
  EXPECT_EQ(text(link_in(report, "eth0.5").link), text(vlan.link));
  EXPECT_EQ(link_in(report, "eth0").link.master.text(), "bond9") << "that much is reported of the parent";
  EXPECT_NE(link_in(report, "eth0").bond, state::BondMember::none);
  EXPECT_EQ(table(v4, 7), Lines{kRoute});
  EXPECT_NE(rules(), "");
  EXPECT_TRUE(converge(wanted).done.empty());
}

TEST_F(LinkEngine, G8_a_vlan_whose_parent_is_put_into_a_bridge_is_kept_and_nothing_is_to_be_done) {
  SKIP_UNLESS_MACHINE_HAS("vlan");
  const auto wanted = steered_over(kVlan);
  const auto made = converge(wanted);
  ASSERT_TRUE(made.settled()) << text(made.left);
  start_monitor();
  run("ip link add br9 type bridge; ip link set eth0 master br9; ip link set br9 up");
  EXPECT_TRUE(is_told_of_links());
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled() && report.done.empty()) << text(report.done);
  EXPECT_EQ(link_in(report, "eth0.5").index, link_in(made, "eth0.5").index);
  EXPECT_EQ(link_in(report, "eth0.5").link, link_in(made, "eth0.5").link);
  EXPECT_EQ(link_in(report, "eth0").link.master.text(), "br9");
}

}  // namespace
}  // namespace kernel::rtnl
