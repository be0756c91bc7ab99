#include "agent/findings.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

const NodeIdentity kIdentity{.boot_id = "boot", .kernel = "6.1", .version = "1.0"};

state::Rule rule(const std::string& source) {
  return {.family = net::Family::v4,
          .priority = 1000,
          .selector = {.from = net::Prefix::host(net::Address::parse(source).value())},
          .protocol = 183,
          .table = 100};
}

template <typename T>
void add(kube::View<T>& view, std::string name, T value) {
  view.objects.insert(std::make_shared<const kube::Object<T>>(
      kube::Object<T>{.key = {"", name}, .uid = "uid-" + name, .version = 1, .value = std::move(value)}));
}

// A node whose report asks under token "t", with one published object, a, that wants a rule from 10.96.0.1.
struct Node {
  kube::View<api::PublishedConfig> configs{.complete = true, .version = 50, .lists = 1};
  kube::View<api::Agent> agents{.complete = true};
  kube::View<api::Node> nodes{.complete = true};
  kube::View<api::NodeState> reports{.complete = true};
  Pass pass;

  Node() {
    add(configs, "a", {.name = "a", .uid = "uid-a", .generation = 3, .epoch = 40});
    add(nodes, "worker-1", {});
    api::NodeState report;
    report.spec.token = "t";
    add(reports, "worker-1", report);
    pass.wanted.claims = {
        {.uid = "uid-a", .source = net::Address::parse("10.96.0.1").value(), .priority = 1000, .table = 100}};
    pass.report.after = state::Verified{};
    pass.own_rules = 1;
  }

  std::optional<Findings> find() const {
    return findings({.configs = std::make_shared<const kube::View<api::PublishedConfig>>(configs),
                     .agents = std::make_shared<const kube::View<api::Agent>>(agents),
                     .nodes = std::make_shared<const kube::View<api::Node>>(nodes),
                     .reports = std::make_shared<const kube::View<api::NodeState>>(reports),
                     .listed_under_token = listed_under_token},
                    pass, kIdentity, doubt);
  }
  std::optional<Doubt> doubt{};
  bool listed_under_token = true;
};

TEST(Findings, B6_among_many_nodes_each_reports_at_its_turn) {
  Node node;
  EXPECT_EQ(node.find()->turn, base::Duration::zero());
  node.reports = {.complete = true};
  api::NodeState report;
  report.spec = {.token = "t", .cluster_prefixes = {}, .nodes = 10'000};
  add(node.reports, "worker-1", report);
  EXPECT_GT(node.find()->turn, base::Duration::zero());
}

TEST(Findings, what_was_read_back_is_stated) {
  const auto found = Node().find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, "t");
  EXPECT_EQ(found->uid, "uid-worker-1");
  EXPECT_EQ(found->found.sync, api::Sync::in_sync);
  EXPECT_EQ(found->found.counts->rules, 1);
  EXPECT_EQ(found->found.counts->sources, 1);
  EXPECT_FALSE(found->found.holds_nothing);
  EXPECT_TRUE(found->progress.is_complete);
  EXPECT_TRUE(found->progress.is_verified);
  EXPECT_EQ(found->progress.version, 50U);
  EXPECT_EQ(found->progress.largest_epoch, 40U);
}

TEST(Findings, D34_without_a_report_or_a_node_object_nothing_is_stated) {
  Node without_report;
  without_report.reports.objects = {};
  EXPECT_FALSE(without_report.find());
  Node without_node;
  without_node.nodes.objects = {};
  EXPECT_FALSE(without_node.find());
  Node without_token;
  without_token.reports.objects = {};
  add(without_token.reports, "worker-1", api::NodeState());
  EXPECT_FALSE(without_token.find());
}

TEST(Findings, S10_objects_listed_before_the_token_was_given_prove_nothing_under_it) {
  Node node;
  node.listed_under_token = false;
  EXPECT_FALSE(node.find());
}

TEST(Findings, S9_a_disturbed_look_states_nothing) {
  Node node;
  node.pass.report.after = state::Unverified{};
  EXPECT_FALSE(node.find());
}

TEST(Findings, S16_an_unreadable_object_stops_the_number) {
  Node node;
  node.pass.wanted.whole = false;
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->progress.is_complete);
}

TEST(Findings, A8_a_broken_stream_stops_the_number) {
  Node node;
  node.configs.trouble = base::Error(base::Fault::unavailable, "connection reset");
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->progress.is_complete);
}

TEST(Findings, A11_what_is_no_longer_watched_is_not_in_sync_and_says_why) {
  Node node;
  node.doubt = {.reason = "NoAccess", .message = "agents can no longer be watched"};
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_NE(found->found.sync, api::Sync::in_sync);
  const auto* condition = meta::find(found->found.conditions, "Synced");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, meta::Truth::no);
  EXPECT_EQ(condition->reason, "NoAccess");
  node.pass.wanted.failed = {{.uid = "uid-a", .name = "a", .reason = "BadAddress", .message = "x"}};
  EXPECT_EQ(meta::find(node.find()->found.conditions, "Synced")->reason, "BadAddress") << "what is sure comes first";
}

TEST(Findings, rules_of_others_are_named_where_the_agent_asks_for_them) {
  Node node;
  EXPECT_EQ(meta::find(node.find()->found.conditions, "ForeignRules"), nullptr);
  node.pass.wanted.foreign_rules.emplace();
  node.pass.foreign = {state::parse_rule(net::Family::v4, "500: from 10.0.0.7 lookup 100").value()};
  const auto found = node.find();
  const auto* condition = meta::find(found->found.conditions, "ForeignRules");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, meta::Truth::yes);
  EXPECT_TRUE(condition->message.contains("500: from 10.0.0.7 lookup 100")) << condition->message;
}

TEST(Findings, F2_a_missing_baseline_is_told_and_otherwise_not_mentioned) {
  Node node;
  EXPECT_EQ(meta::find(node.find()->found.conditions, "BaselineMissing"), nullptr);
  node.pass.missing_baseline = {"IPv4 main", "IPv4 default"};
  const auto found = node.find();
  const auto* condition = meta::find(found->found.conditions, "BaselineMissing");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, meta::Truth::yes);
  EXPECT_TRUE(condition->message.contains("IPv4 main, IPv4 default")) << condition->message;
  EXPECT_EQ(found->found.sync, api::Sync::in_sync) << "ours are there";
}

TEST(Findings, D54_the_first_warnings_are_named_and_the_others_counted) {
  Node node;
  EXPECT_EQ(meta::find(node.find()->found.conditions, "Warnings"), nullptr);
  node.pass.wanted.warnings = {"a: 1", "b: 2", "c: 3", "d: 4", "e: 5", "f: 6", "g: 7"};
  const auto found = node.find();
  const auto* condition = meta::find(found->found.conditions, "Warnings");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->message, "a: 1; b: 2; c: 3; d: 4; e: 5; and 2 more");
  EXPECT_EQ(found->found.sync, api::Sync::in_sync);
}

TEST(Findings, a_refused_rule_is_the_failure_of_who_asked_for_it_and_of_nobody_else) {
  Node node;
  node.pass.report.left.ops = {plan::AddRule{.rule = rule("10.96.0.1")}};
  node.pass.refused = {{.rule = rule("10.96.0.1"), .error = base::Error(base::Fault::kernel, "EINVAL", EINVAL)}};
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->progress.is_verified);
  ASSERT_EQ(found->progress.failed.size(), 1U);
  const auto& failed = found->progress.failed[0];
  EXPECT_EQ(failed.uid, "uid-a");
  EXPECT_EQ(failed.name, "a");
  EXPECT_EQ(failed.generation, 3);
  EXPECT_EQ(failed.reason, "RuleAddFailed");
  EXPECT_EQ(failed.message, "EINVAL");
  EXPECT_EQ(found->found.sync, api::Sync::failing);
}

TEST(Findings, an_nft_table_that_cannot_be_made_is_the_failure_of_who_needs_marks) {
  Node node;
  node.pass.wanted.claims[0].kind = intent::Claim::Kind::reply;
  node.pass.report.left.ops = {plan::ChangeNft{}};
  node.pass.report.done.ops = {plan::ChangeNft{}};
  node.pass.report.outcome.results = {
      {.effect = kernel::Effect::failed, .status = base::fail(base::Fault::absent, "nft: No such file", ENOENT)}};
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->progress.is_verified);
  ASSERT_EQ(found->progress.failed.size(), 1U);
  EXPECT_EQ(found->progress.failed[0].reason, "MarkFailed");
  node.pass.wanted.claims[0].kind = intent::Claim::Kind::source;
  const auto nobodys = node.find();
  ASSERT_TRUE(nobodys);
  EXPECT_TRUE(nobodys->progress.failed.empty());
  EXPECT_EQ(nobodys->found.sync, api::Sync::failing);
  EXPECT_EQ(nobodys->found.conditions.at(0).reason, "MarkFailed");
}

TEST(Findings, facts_and_back_end_are_those_of_the_look) {
  Node node;
  state::NetState kernel;
  kernel.nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}};
  kernel.nft->sources = {{net::Address::parse("10.96.0.1").value(), 0x100}};
  node.pass.report.after = state::Verified{kernel};
  node.pass.wanted.state.rules = {rule("10.96.0.1")};
  node.pass.facts.service_proxy = state::ServiceProxy::ipvs;
  node.pass.facts.local_rule_priority = 100;
  node.pass.facts.capabilities = {.rule_protocol = true, .ct_original = false};
  node.pass.facts.reverse_path_filter = {{net::InterfaceName::parse("eth1").value(), 1}};
  node.pass.facts.tables = {{.table = 100, .family = net::Family::v4}, {.table = 100, .family = net::Family::v6}};
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->found.dataplane, api::Backend::marks);
  EXPECT_EQ(found->found.facts.service_proxy, api::ServiceProxy::ipvs);
  EXPECT_EQ(found->found.facts.local_rule_priority, 100);
  EXPECT_EQ(found->found.facts.capabilities,
            (api::NodeState::Capabilities{.rule_protocol = true, .ct_original = false}));
  EXPECT_EQ(found->found.facts.reverse_path_filter.at(0).device, "eth1");
  ASSERT_EQ(found->found.empty_tables.size(), 1U) << "nobody looks it up for IPv6";
  EXPECT_EQ(found->found.empty_tables[0].family, api::IPFamily::v4);
}

TEST(Findings, devices_are_told_with_the_tables_that_lead_out_by_them) {
  Node node;
  const auto eth1 = net::InterfaceName::parse("eth1").value();
  const auto eth2 = net::InterfaceName::parse("eth2").value();
  node.pass.facts.reverse_path_filter = {{eth1, 1}, {eth2, 2}};
  node.pass.facts.tables = {{.table = 100, .family = net::Family::v4, .routes = 1, .devices = {eth1}},
                            {.table = 100, .family = net::Family::v6, .routes = 1, .devices = {eth2}},
                            {.table = 120, .family = net::Family::v4, .routes = 2, .devices = {eth1, eth2}}};
  node.pass.facts.vrfs = {{net::InterfaceName::parse("blue").value(), 120},
                          {net::InterfaceName::parse("red").value(), 121}};
  const auto found = node.find();
  ASSERT_TRUE(found);
  using Filters = std::vector<api::NodeState::ReversePathFilter>;
  EXPECT_EQ(found->found.facts.reverse_path_filter, (Filters{{.device = "eth1", .value = 1, .tables = {100, 120}},
                                                             {.device = "eth2", .value = 2, .tables = {120}}}));
  EXPECT_EQ(found->found.facts.vrfs, (std::vector<api::NodeState::Vrf>{{.device = "blue", .table = 120}}))
      << "nobody looks up the table of the other";
}

TEST(Findings, no_list_is_longer_than_the_server_takes) {
  Node node;
  for (int i = 0; i < 200; ++i) {
    const auto device = net::InterfaceName::parse("eth" + std::to_string(i)).value();
    const auto table = static_cast<std::uint32_t>(1000 + i);
    node.pass.facts.reverse_path_filter[device] = 1;
    node.pass.facts.vrfs[device] = table;
    node.pass.facts.tables.push_back({.table = table});
    state::Rule one = rule("10.96.0.1");
    one.table = table;
    node.pass.wanted.state.rules.push_back(one);
  }
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->found.facts.reverse_path_filter.size(), api::NodeState::kMaxDevices);
  EXPECT_EQ(found->found.facts.vrfs.size(), api::NodeState::kMaxDevices);
  EXPECT_EQ(found->found.empty_tables.size(), api::NodeState::kMaxTables);
}

// A node that holds a rule from 10.96.0.9 which nobody wants, and whose kernel does not let it go.
Node that_cannot_remove(plan::Op removal = plan::RemoveRule{.rule = rule("10.96.0.9")}) {
  Node node;
  node.pass.report.left.ops = {removal};
  node.pass.report.done.ops = {removal};
  node.pass.report.outcome.results = {
      {.effect = kernel::Effect::failed, .status = base::fail(base::Fault::kernel, "remove: ENOMEM", ENOMEM)}};
  return node;
}

api::PublishedConfig withdrawn(std::string service_ip, std::uint32_t table, std::uint32_t priority) {
  api::PublishedConfig out{.name = "b", .uid = "uid-b", .generation = 7, .epoch = 45};
  out.spec.service_ip = std::move(service_ip);
  out.spec.table = table;
  out.spec.priority = priority;
  out.spec.state = api::ConfigState::absent;
  return out;
}

TEST(Findings, S9_a_rule_that_is_not_gone_yet_stops_the_number) {
  Node node;
  node.pass.report.left.ops = {plan::RemoveRule{.rule = rule("10.96.0.9")}};
  EXPECT_FALSE(node.find()) << "nobody has tried";
  node = that_cannot_remove();
  node.pass.report.outcome.results[0].status = base::fail(base::Fault::cancelled, "stopped");
  EXPECT_FALSE(node.find()) << "a stop is no refusal";
}

TEST(Findings, S9_a_rule_that_the_kernel_does_not_let_go_is_told_and_stops_the_number) {
  const auto found = that_cannot_remove().find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->progress.is_verified);
  EXPECT_TRUE(found->progress.failed.empty());
  EXPECT_EQ(found->found.sync, api::Sync::failing);
  EXPECT_EQ(found->found.conditions.at(0).reason, "RuleDeleteFailed");
  EXPECT_EQ(found->found.conditions.at(0).message, "remove: ENOMEM");
}

TEST(Findings, a_rule_that_the_kernel_does_not_let_go_is_the_failure_of_the_withdrawn_object) {
  for (const std::uint32_t priority : {1000U, 0U}) {
    Node node = that_cannot_remove();
    add(node.configs, "b", withdrawn("10.96.0.9", 100, priority));
    const auto found = node.find();
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->progress.is_verified);
    ASSERT_EQ(found->progress.failed.size(), 1U);
    EXPECT_EQ(
        found->progress.failed[0],
        (api::NodeState::Failed{
            .uid = "uid-b", .name = "b", .generation = 7, .reason = "RuleDeleteFailed", .message = "remove: ENOMEM"}));
    EXPECT_EQ(found->found.conditions.at(0).reason, "RuleDeleteFailed");
  }
}

TEST(Findings, a_rule_that_the_kernel_does_not_let_go_is_not_the_failure_of_others) {
  auto present = withdrawn("10.96.0.9", 100, 1000);
  present.spec.state = api::ConfigState::present;
  for (const auto& other : {withdrawn("10.96.0.8", 100, 1000), withdrawn("10.96.0.9", 101, 1000),
                            withdrawn("10.96.0.9", 100, 999), present}) {
    Node node = that_cannot_remove();
    add(node.configs, "b", other);
    EXPECT_TRUE(node.find()->progress.failed.empty());
  }
}

TEST(Findings, a_mark_that_the_kernel_does_not_take_back_is_the_failure_of_the_withdrawn_object) {
  Node node = that_cannot_remove(plan::ChangeNft{});
  state::NetState kernel;
  kernel.nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}};
  kernel.nft->sources = {{net::Address::parse("10.96.0.9").value(), 0x100}};
  node.pass.report.after = state::Verified{kernel};
  add(node.configs, "b", withdrawn("10.96.0.9", 100, 1000));
  const auto found = node.find();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->progress.failed.size(), 1U);
  EXPECT_EQ(found->progress.failed[0].uid, "uid-b");
  EXPECT_EQ(found->progress.failed[0].reason, "RuleDeleteFailed");
  node.pass.wanted.state.nft = kernel.nft;
  EXPECT_TRUE(node.find()->progress.failed.empty()) << "somebody else wants it still";
}

TEST(Findings, waiting_for_another_object_is_no_failure) {
  Node node;
  node.pass.wanted.failed = {{.uid = "uid-a", .name = "a", .reason = "Waiting", .message = "for b"}};
  const auto found = node.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->found.sync, api::Sync::applying);
  EXPECT_EQ(found->progress.failed.size(), 1U) << "but it is not settled";
}

TEST(Findings, D33_a_kernel_that_does_not_let_us_is_told) {
  Node node;
  const Looked refused = base::fail(base::Fault::denied, "open: EPERM", EPERM);
  const ClusterSource::Basis basis{.configs = std::make_shared<const kube::View<api::PublishedConfig>>(node.configs),
                                   .agents = std::make_shared<const kube::View<api::Agent>>(node.agents),
                                   .nodes = std::make_shared<const kube::View<api::Node>>(node.nodes),
                                   .reports = std::make_shared<const kube::View<api::NodeState>>(node.reports),
                                   .listed_under_token = true};
  const auto found = findings(basis, refused, kIdentity);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->found.sync, api::Sync::failing);
  EXPECT_EQ(found->found.conditions.at(0).reason, "NotPermitted");
  EXPECT_FALSE(found->progress.is_verified);
}

}  // namespace
}  // namespace agent
