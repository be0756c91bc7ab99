#include "agent/standalone_status.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

namespace agent {
namespace {

TEST(StandaloneStatus, is_read_back_as_it_was_written) {
  std::string pattern = (std::filesystem::temp_directory_path() / "status-XXXXXX").native();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  const StandaloneStatus status{.folder = "/etc/iprule",
                                .once = true,
                                .trouble = "x.yaml:1:2: kind: required",
                                .settled = true,
                                .kernel_rules = 3,
                                .repairs = 2,
                                .drifting = true,
                                .rules = {{.name = "a", .reason = "Valid", .services = 1, .vips = 2}},
                                .failed = {{.uid = "u", .name = "iprc-1", .reason = "VRFNotFound"}},
                                .empty_tables = {{.table = 100, .family = api::IPFamily::v6}},
                                .strict_devices = {"eth1"},
                                .clashes = {"IPv4 rule 1000"}};
  ASSERT_TRUE(write_status(folder, status));
  const auto back = read_status(folder);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, status);
  std::filesystem::remove_all(folder);
}

TEST(StandaloneStatus, of_a_look_that_failed_says_why_and_keeps_what_was_known) {
  StandaloneStatus status{.folder = "f", .settled = true, .kernel_rules = 3};
  take(status, base::fail(base::Fault::denied, "EPERM"));
  EXPECT_FALSE(status.settled);
  EXPECT_EQ(status.waiting, "EPERM");
  EXPECT_EQ(status.kernel_rules, 3);
}

TEST(StandaloneStatus, counts_all_repairs_since_it_began) {
  StandaloneStatus status;
  for (const std::size_t repairs : {2U, 0U, 3U}) {
    Pass pass;
    pass.repairs = repairs;
    take(status, std::optional(std::move(pass)));
  }
  EXPECT_EQ(status.repairs, 5);
}

TEST(StandaloneStatus, of_a_look_tells_what_the_node_lacks_for_the_rules_to_work) {
  Pass pass;
  const auto eth1 = net::InterfaceName::parse("eth1").value();
  pass.wanted.state.rules = {{.family = net::Family::v4, .priority = 1000, .table = 100}};
  pass.facts.tables = {{.table = 100, .family = net::Family::v4, .routes = 0},
                       {.table = 100, .family = net::Family::v6, .routes = 0}};
  pass.facts.reverse_path_filter = {{eth1, 1}};
  pass.report.left.clashes = {{.desired = {}, .foreign = {.family = net::Family::v4, .priority = 1000, .table = 200}}};
  StandaloneStatus status;
  take(status, pass);
  EXPECT_EQ(status.empty_tables,
            (std::vector<api::NodeState::EmptyTable>{{.table = 100, .family = api::IPFamily::v4}}));
  EXPECT_TRUE(status.strict_devices.empty()) << "nothing is marked";
  ASSERT_EQ(status.clashes.size(), 1U);
  EXPECT_TRUE(status.clashes.front().contains("lookup 200")) << status.clashes.front();
  pass.wanted.state.nft.emplace();
  take(status, pass);
  EXPECT_EQ(status.strict_devices, std::vector<std::string>{"eth1"});
}

TEST(StandaloneStatus, says_what_became_of_every_rule) {
  Manifests manifests;
  ASSERT_TRUE(add_manifests(manifests, "x.yaml",
                            "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n"
                            "---\nkind: IPRule\nmetadata: {name: b}\nspec: {cidrs: [203.0.113.0/99], table: 100}\n"
                            "---\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
                            "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
                            "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n"));
  const auto rules = rules_of(manifests);
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].reason, "Valid");
  EXPECT_EQ(rules[0].vips, 1);
  EXPECT_EQ(rules[1].reason, "InvalidCIDR");
}

}  // namespace
}  // namespace agent
