#include "lab/world.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/isolation.h"
#include "lab/kubernetes/control_plane.h"
#include "testbed/assert_ok.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using lab::Host;
using lab::InterfaceAddress;
using lab::World;
using testing::HasSubstr;

constexpr auto kBound = 30s;

Finished run_in(const Host& host, std::vector<std::string> arguments) {
  auto done = run({.arguments = std::move(arguments), .network = host.network()}, kBound);
  EXPECT_TRUE(done) << done.error().message();
  return done ? *std::move(done) : Finished{};
}

std::string names_of_hosts() {
  return run({.arguments = {"ip", "netns"}}, kBound)->output;
}

class WorldTest : public testing::Test {
 protected:
  void SetUp() override {
    auto world = World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
  }

  Host& add(const std::string& name) {
    const auto host = world_->add_host(name);
    EXPECT_TRUE(host) << host.error().message();
    return **host;
  }

  std::optional<World> world_;
};

TEST_F(WorldTest, a_control_plane_that_did_not_come_to_be_leaves_a_link_of_its_name_alone) {
  const auto links = [] { return run({.arguments = {"ip", "-o", "link", "show", "type", "bridge"}}, kBound)->output; };
  for (int i = 0; i < 8; ++i) {  // Whichever number is its.
    ASSERT_TRUE(
        run({.arguments = {"ip", "link", "add", fmt::format("cluster{}", i), "type", "bridge"}}, kBound)->exit.ok());
  }
  const std::string before = links();
  EXPECT_FALSE(lab::ControlPlane::start("/nowhere"));
  EXPECT_EQ(links(), before);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(run({.arguments = {"ip", "link", "delete", fmt::format("cluster{}", i)}}, kBound)->exit.ok());
  }
}

TEST_F(WorldTest, a_host_has_only_loopback_and_a_name) {
  const Host& node = add("node-1");
  EXPECT_THAT(names_of_hosts(), HasSubstr("node-1"));
  EXPECT_THAT(run_in(node, {"ip", "-o", "link"}).output, testing::StartsWith("1: lo: <LOOPBACK,UP,LOWER_UP>"));
  EXPECT_EQ(run_in(node, {"ip", "route"}).output, "");
}

TEST_F(WorldTest, settings_do_not_depend_on_the_machine) {
  const Host& node = add("node-1");
  for (const char* name : {"net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter", "net.ipv6.conf.all.forwarding"})
    EXPECT_EQ(run_in(node, {"sysctl", "-n", name}).output, "0\n") << name;
}

TEST_F(WorldTest, a_sysctl_is_set_in_its_host_only) {
  Host& router = add("router");
  const Host& other = add("other");
  ASSERT_OK(router.forward_packets());
  EXPECT_EQ(run_in(router, {"sysctl", "-n", "net.ipv4.ip_forward"}).output, "1\n");
  EXPECT_EQ(run_in(router, {"sysctl", "-n", "net.ipv6.conf.all.forwarding"}).output, "1\n");
  EXPECT_EQ(run_in(other, {"sysctl", "-n", "net.ipv4.ip_forward"}).output, "0\n");
}

TEST_F(WorldTest, a_cable_carries_packets_of_both_families_and_counts_them) {
  Host& a = add("a");
  Host& b = add("b");
  ASSERT_OK(world_->connect(a, "eth0", b, "eth0"));
  ASSERT_OK(a.add_address("eth0", InterfaceAddress::of("10.0.0.1/24")));
  ASSERT_OK(b.add_address("eth0", InterfaceAddress::of("10.0.0.2/24")));
  ASSERT_OK(a.add_address("eth0", InterfaceAddress::of("fd00::1/64")));
  ASSERT_OK(b.add_address("eth0", InterfaceAddress::of("fd00::2/64")));
  // Connecting to a closed port is answered at once where there is a way.
  EXPECT_EQ(run_in(a, {"bash", "-c", "echo > /dev/tcp/10.0.0.2/9"}).exit.code, 1);
  const auto before = b.count_packets("eth0");
  EXPECT_THAT(run_in(a, {"bash", "-c", "echo > /dev/tcp/fd00::2/9"}).errors, HasSubstr("refused"));
  EXPECT_THAT(run_in(a, {"bash", "-c", "echo > /dev/tcp/10.0.0.2/9"}).errors, HasSubstr("refused"));
  const auto after = b.count_packets("eth0");
  ASSERT_TRUE(before && after);
  EXPECT_GE(after->received, before->received + 2);
  EXPECT_GE(after->sent, before->sent + 2);
}

TEST_F(WorldTest, a_switch_joins_hosts_and_the_one_it_is_in) {
  Host& router = add("router");
  Host& a = add("a");
  Host& b = add("b");
  ASSERT_OK(world_->add_switch(router, "lan"));
  ASSERT_OK(world_->plug(a, "eth0", router, "a", "lan"));
  ASSERT_OK(world_->plug(b, "eth0", router, "b", "lan"));
  ASSERT_OK(router.add_address("lan", InterfaceAddress::of("10.0.0.1/24")));
  ASSERT_OK(a.add_address("eth0", InterfaceAddress::of("10.0.0.11/24")));
  ASSERT_OK(b.add_address("eth0", InterfaceAddress::of("10.0.0.12/24")));
  for (const char* peer : {"10.0.0.1", "10.0.0.12"})
    EXPECT_THAT(run_in(a, {"bash", "-c", std::string("echo > /dev/tcp/") + peer + "/9"}).errors, HasSubstr("refused"));
}

TEST_F(WorldTest, routes_go_into_the_table_asked_for) {
  Host& a = add("a");
  Host& b = add("b");
  ASSERT_OK(world_->connect(a, "eth0", b, "eth0"));
  ASSERT_OK(a.add_address("eth0", InterfaceAddress::of("10.0.0.1/24")));
  ASSERT_OK(a.add_route({.destination = *net::Prefix::parse("0.0.0.0/0"),
                         .gateway = *net::Address::parse("10.0.0.2"),
                         .link = "eth0",
                         .table = 100}));
  EXPECT_THAT(run_in(a, {"ip", "route", "show", "table", "100"}).output, HasSubstr("default via 10.0.0.2 dev eth0"));
}

TEST_F(WorldTest, work_runs_inside_the_host_and_the_caller_stays_outside) {
  const Host& node = add("node-1");
  std::filesystem::path inside;
  ASSERT_OK(node.within([&]() -> base::Status {
    inside = std::filesystem::read_symlink("/proc/thread-self/ns/net");
    return {};
  }));
  EXPECT_NE(inside, std::filesystem::read_symlink("/proc/thread-self/ns/net"));
  EXPECT_NE(inside, "");
}

TEST_F(WorldTest, programs_end_before_the_world_and_nothing_is_left) {
  Host& node = add("node-1");
  ASSERT_OK(world_->connect(node, "eth0", world_->here(), "to-node-1"));
  const auto program = node.start({.arguments = {"sleep", "600"}});
  ASSERT_TRUE(program) << program.error().message();
  const pid_t pid = (*program)->pid();
  world_.reset();
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(names_of_hosts(), "");
  EXPECT_EQ(run({.arguments = {"ip", "-o", "link", "show", "to-node-1"}}, kBound)->output, "");
}

TEST_F(WorldTest, names_that_no_host_can_have_are_refused) {
  for (const char* name : {"", "../x", "a b", "Node"}) {
    const auto host = world_->add_host(name);
    ASSERT_FALSE(host) << name;
    EXPECT_EQ(host.error().fault(), base::Fault::invalid);
  }
}

TEST_F(WorldTest, a_second_host_of_the_same_name_is_refused) {
  add("twin");
  const auto twin = world_->add_host("twin");
  ASSERT_FALSE(twin);
  EXPECT_THAT(twin.error().message(), HasSubstr("File exists"));
}

TEST_F(WorldTest, a_link_that_is_up_is_a_way_out_for_a_sandbox) {
  Host& a = add("a");
  EXPECT_TRUE(a.within(lab::require_only_loopback));
  ASSERT_OK(world_->connect(a, "eth0", world_->here(), "to-a"));
  const auto refused = a.within(lab::require_only_loopback);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "link eth0 is up: packets could leave this namespace");
}

// A namespace from which a default route leads away, as a container has one.
TEST_F(WorldTest, with_a_way_out_no_world_is_made) {
  for (const char* address : {"192.0.2.1/24", "2001:db8::1/64"}) {
    Host& container = add(std::string("container") + (address[0] == '1' ? "4" : "6"));
    ASSERT_OK(world_->connect(container, "eth0", world_->here(), "outside"));
    const auto own = InterfaceAddress::of(address);
    ASSERT_OK(container.add_address("eth0", own));
    ASSERT_OK(container.add_route({.destination = net::Prefix(own.address, 0), .link = "eth0", .table = 7}));
    base::Status made;
    ASSERT_OK(container.within([&]() -> base::Status {
      const auto world = World::make();
      if (!world) made = std::unexpected(world.error());
      return {};
    }));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message(), HasSubstr("default route: packets could leave"));
    ASSERT_OK(lab::remove_link(container.rtnl(), "eth0"));
  }
}

}  // namespace
}  // namespace testbed
