#include "intent/node/source_rules.h"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace intent {
namespace {

using api::ConfigState;
using api::PublishedConfig;
using api::SourceMode;
using Texts = std::vector<std::string>;
using Trust = PublishedConfig::Trust;

// A node and what is published for it.
class Bench {
 public:
  PublishedConfig& config(std::string name, std::string ip, std::uint32_t table, std::uint32_t priority = 0) {
    PublishedConfig& out = configs_.emplace_back();
    out.uid = "uid-" + name;
    out.name = std::move(name);
    out.epoch = ++epoch_;
    out.trust = Trust::trusted;
    out.spec.service_ip = std::move(ip);
    out.spec.table = table;
    out.spec.priority = priority;
    return out;
  }
  NodeIntent compile() {
    std::vector<const PublishedConfig*> pointers;
    for (const auto& config : configs_) pointers.push_back(&config);
    return compile(pointers);
  }
  NodeIntent compile(const std::vector<const PublishedConfig*>& pointers) {
    view.configs = pointers;
    NodeIntent out = intent::compile(view, last);
    last = out.memory;
    return out;
  }
  void forget(std::string_view name) {
    std::erase_if(configs_, [&](const PublishedConfig& config) { return config.name == name; });
  }
  const std::deque<PublishedConfig>& configs() const { return configs_; }

  NodeView view{.node = "n1", .labels = {{"zone", "a"}}};
  NodeMemory last;

 private:
  std::deque<PublishedConfig> configs_;
  std::uint64_t epoch_ = 0;
};

Texts rules(const NodeIntent& intent) {
  Texts out;
  for (const state::Rule& rule : intent.desired.rules) out.push_back(state::text(rule));
  return out;
}

Texts refusals(const NodeIntent& intent) {
  Texts out;
  for (const Refusal& refusal : intent.refusals) {
    out.push_back(refusal.config->name + " " + std::string(text(refusal.reason)));
  }
  return out;
}

TEST(SourceRules, a_present_object_is_one_rule_with_our_protocol) {
  Bench bench;
  bench.config("a", "10.96.0.1", 100, 1000);
  bench.config("b", "fd00::1", 200);
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent),
            (Texts{"1000: from 10.96.0.1 lookup 100 proto 183", "32765: from fd00::1 lookup 200 proto 183"}));
  EXPECT_EQ(intent.desired.rules[0].selector.from, net::Prefix::host(*net::Address::parse("10.96.0.1")));
  EXPECT_TRUE(intent.refusals.empty());
}

TEST(SourceRules, D27_a_priority_that_is_not_given_is_the_same_on_every_node) {
  Bench bench;
  bench.view.default_priority = 20000;
  bench.config("a", "10.96.0.1", 100);
  EXPECT_EQ(rules(bench.compile()), Texts{"20000: from 10.96.0.1 lookup 100 proto 183"});
}

TEST(SourceRules, what_is_withdrawn_terminating_unmanaged_or_for_other_nodes_says_nothing) {
  Bench bench;
  bench.config("absent", "10.96.0.1", 100).spec.state = ConfigState::absent;
  bench.config("terminating", "10.96.0.2", 100).is_terminating = true;
  bench.config("unmanaged", "10.96.0.3", 100).trust = Trust::unmanaged;
  bench.config("elsewhere", "10.96.0.4", 100).spec.node_selector = {{"zone", "b"}};
  bench.config("here", "10.96.0.5", 100, 7).spec.node_selector = {{"zone", "a"}};
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent), Texts{"7: from 10.96.0.5 lookup 100 proto 183"});
  EXPECT_TRUE(intent.refusals.empty());
}

TEST(SourceRules, D50_an_object_that_the_controller_did_not_make_is_refused) {
  Bench bench;
  bench.config("unowned", "10.96.0.1", 100).trust = Trust::unowned;
  bench.config("unhashed", "10.96.0.2", 100).trust = Trust::unhashed;
  const NodeIntent intent = bench.compile();
  EXPECT_TRUE(intent.desired.rules.empty());
  EXPECT_EQ(refusals(intent), (Texts{"unhashed Untrusted", "unowned Untrusted"}));
}

TEST(SourceRules, D6_what_was_applied_last_stays_while_hash_and_spec_disagree) {
  Bench bench;
  PublishedConfig& config = bench.config("a", "10.96.0.1", 100, 1000);
  bench.compile();
  config.spec.table = 7;
  config.spec.node_selector.set("zone", "elsewhere");
  config.trust = Trust::mismatch;
  for (int pass = 0; pass < 3; ++pass) {
    const NodeIntent intent = bench.compile();
    EXPECT_EQ(rules(intent), Texts{"1000: from 10.96.0.1 lookup 100 proto 183"});
    EXPECT_EQ(refusals(intent), Texts{"a HashMismatch"});
  }
}

TEST(SourceRules, D6_absent_by_hand_keeps_the_rule) {
  Bench bench;
  PublishedConfig& config = bench.config("a", "10.96.0.1", 100, 1000);
  bench.compile();
  config.spec.state = ConfigState::absent;
  config.trust = Trust::mismatch;  // The hash of what was present is still there.
  const NodeIntent edited = bench.compile();
  EXPECT_EQ(rules(edited), Texts{"1000: from 10.96.0.1 lookup 100 proto 183"});
  EXPECT_EQ(refusals(edited), Texts{"a HashMismatch"});
  config.trust = Trust::unhashed;  // As the controller withdraws it.
  const NodeIntent withdrawn = bench.compile();
  EXPECT_TRUE(withdrawn.desired.rules.empty());
  EXPECT_TRUE(withdrawn.refusals.empty());
}

TEST(SourceRules, D6_one_that_lost_its_hash_or_its_owner_by_hand_keeps_the_rule_it_had) {
  for (const Trust lost : {Trust::unhashed, Trust::unowned}) {
    Bench bench;
    PublishedConfig& config = bench.config("a", "10.96.0.1", 100, 1000);
    bench.compile();
    config.trust = lost;
    if (lost == Trust::unhashed) config.spec.node_selector.set("zone", "elsewhere");
    config.spec.table = 7;
    for (int pass = 0; pass < 2; ++pass) {
      const NodeIntent intent = bench.compile();
      EXPECT_EQ(rules(intent), Texts{"1000: from 10.96.0.1 lookup 100 proto 183"});
      EXPECT_EQ(refusals(intent), Texts{"a Untrusted"});
    }
  }
}

TEST(SourceRules, a_changed_object_that_was_never_applied_is_not_applied) {
  Bench bench;
  bench.config("a", "10.96.0.1", 100).trust = Trust::mismatch;
  EXPECT_TRUE(bench.compile().desired.rules.empty());
}

TEST(SourceRules, what_cannot_be_programmed_is_refused_and_its_siblings_go_on) {
  Bench bench;
  bench.view.addresses = {*net::Address::parse("192.0.2.9")};
  bench.view.facts.own = {*net::Address::parse("192.0.2.8")};
  bench.view.facts.nftables = false;
  bench.config("address", "localhost", 100);
  bench.config("good", "10.96.0.1", 100, 5);
  bench.config("own", "192.0.2.9", 100);
  bench.config("own-too", "192.0.2.8", 100);
  auto& reply = bench.config("reply", "203.0.113.1", 0);
  reply.spec.source_mode = SourceMode::reply;
  reply.spec.route_table = 100;
  bench.config("table", "10.96.0.2", 0);
  bench.config("vrf", "10.96.0.3", 0).spec.vrf = "red";
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent), Texts{"5: from 10.96.0.1 lookup 100 proto 183"});
  EXPECT_EQ(refusals(intent), (Texts{"address BadAddress", "own ProtectedSource", "own-too ProtectedSource",
                                     "reply NoNftables", "table TableUnset", "vrf VRFNotFound"}));
}

TEST(SourceRules, S4_what_a_node_lives_on_is_refused_as_a_source_and_its_siblings_go_on) {
  Bench bench;
  bench.view.facts.gateways = {*net::Address::parse("192.0.2.1")};
  bench.view.api_servers = {*net::Address::parse("192.0.2.7")};
  auto& pods = bench.config("pods", "10.96.0.1", 0, 5);
  pods.spec.route_table = 100;
  pods.spec.source_mode = SourceMode::endpoints;
  for (const char* address : {"127.0.0.1", "::1", "169.254.3.4", "fe80::7", "0.0.0.0", "::", "224.0.0.5", "ff02::1",
                              "192.0.2.1", "192.0.2.7", "10.244.0.2"}) {
    pods.spec.source_ips.push_back({.address = address});
  }
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent), Texts{"5: from 10.244.0.2 lookup 100 proto 183"});
  EXPECT_EQ(refusals(intent), Texts(10, "pods ProtectedSource"));
}

TEST(SourceRules, S4_replies_are_refused_for_what_is_no_hosts_address) {
  Bench bench;
  bench.view.facts.gateways = {*net::Address::parse("192.0.2.1")};
  for (const char* address : {"127.0.0.1", "fe80::7", "::", "224.0.0.5", "192.0.2.1"}) {
    auto& reply = bench.config(address, address, 0, 5);
    reply.spec.route_table = 100;
    reply.spec.source_mode = SourceMode::reply;
  }
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(refusals(intent), (Texts{"127.0.0.1 ProtectedSource", "224.0.0.5 ProtectedSource", ":: ProtectedSource",
                                     "fe80::7 ProtectedSource"}));
  ASSERT_TRUE(intent.desired.nft);
  EXPECT_EQ(intent.desired.nft->vips.size(), 1U) << "connections to a gateway are told from its other traffic";
}

TEST(SourceRules, a_vrf_is_looked_up_on_the_node) {
  Bench bench;
  bench.view.facts.vrfs = {{*net::InterfaceName::parse("red"), 4242}};
  bench.config("a", "10.96.0.3", 0).spec.vrf = "red";
  EXPECT_EQ(rules(bench.compile()), Texts{"999: from 10.96.0.3 lookup 4242 proto 183"});
}

TEST(SourceRules, a_vrf_behind_the_kernels_own_rule_is_programmed_with_a_warning) {
  Bench bench;
  bench.view.facts.vrfs = {{*net::InterfaceName::parse("red"), 4242}};
  bench.config("before", "10.96.0.3", 0, 999).spec.vrf = "red";
  bench.config("behind", "10.96.0.4", 0, 1000).spec.vrf = "red";
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(intent.desired.rules.size(), 2U);
  ASSERT_EQ(intent.warnings.size(), 1U);
  EXPECT_EQ(intent.warnings[0].config->name, "behind");
  EXPECT_EQ(intent.warnings[0].reason, Warning::Reason::priority_after_vrf);
}

TEST(SourceRules, local_endpoints_are_those_of_this_node) {
  Bench bench;
  auto& all = bench.config("all", "10.96.0.1", 0, 10);
  all.spec.route_table = 100;
  all.spec.source_mode = SourceMode::endpoints;
  all.spec.source_ips = {{"10.244.0.1", "n1"}, {"10.244.1.1", "n2"}};
  auto& local = bench.config("local", "10.96.0.2", 0, 20);
  local.spec.route_table = 200;
  local.spec.source_mode = SourceMode::local_endpoints;
  local.spec.source_ips = all.spec.source_ips;
  EXPECT_EQ(rules(bench.compile()),
            (Texts{"10: from 10.244.0.1 lookup 100 proto 183", "10: from 10.244.1.1 lookup 100 proto 183",
                   "20: from 10.244.0.1 lookup 200 proto 183"}));
}

TEST(SourceRules, D11_during_a_change_the_older_object_counts_until_it_is_withdrawn) {
  Bench bench;
  bench.config("old", "10.96.0.1", 100, 1000);
  bench.config("new", "10.96.0.1", 200, 1000);
  EXPECT_EQ(rules(bench.compile()), Texts{"1000: from 10.96.0.1 lookup 100 proto 183"});
  EXPECT_EQ(refusals(bench.compile()), Texts{"new Waiting"});
  bench.forget("old");
  EXPECT_EQ(rules(bench.compile()), Texts{"1000: from 10.96.0.1 lookup 200 proto 183"});
  EXPECT_TRUE(bench.compile().refusals.empty());
}

TEST(SourceRules, D51_a_rule_that_any_present_object_wants_stays) {
  Bench bench;
  bench.config("old", "10.96.0.1", 100, 1000).spec.state = ConfigState::absent;
  bench.config("new", "10.96.0.1", 100, 1000);
  bench.config("twin", "10.96.0.1", 100, 1000);
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent), Texts{"1000: from 10.96.0.1 lookup 100 proto 183"});
  EXPECT_TRUE(intent.refusals.empty());
}

TEST(SourceRules, D54_a_priority_after_main_and_a_table_of_the_system_are_programmed_with_a_warning) {
  Bench bench;
  bench.config("late", "10.96.0.1", 100, 40000);
  bench.config("main", "10.96.0.2", 254, 10);
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(intent.desired.rules.size(), 2U);
  ASSERT_EQ(intent.warnings.size(), 2U);
  EXPECT_EQ(intent.warnings[0].reason, Warning::Reason::priority_after_main);
  EXPECT_EQ(intent.warnings[1].reason, Warning::Reason::reserved_table);
}

TEST(SourceRules, fault_D3_a_priority_that_the_node_itself_has_taken_is_programmed_with_a_warning) {
  Bench bench;
  bench.config("early", "10.96.0.1", 100, 100);
  bench.config("vrf", "10.96.0.2", 100, 1000);
  bench.config("well", "10.96.0.3", 100, 1500);
  EXPECT_TRUE(bench.compile().warnings.empty()) << "nothing on this node is in the way";
  bench.view.facts.local_rule_priority = 100;  // As Cilium moves it.
  bench.view.facts.vrfs = {{net::InterfaceName::parse("blue").value(), 7}};
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(intent.desired.rules.size(), 3U);
  ASSERT_EQ(intent.warnings.size(), 2U);
  EXPECT_EQ(intent.warnings[0].reason, Warning::Reason::priority_before_local);
  EXPECT_TRUE(intent.warnings[0].message.contains("stands at 100 here")) << intent.warnings[0].message;
  EXPECT_EQ(intent.warnings[1].reason, Warning::Reason::priority_after_vrf);
}

TEST(SourceRules, replies_to_a_vip_are_marked_and_prefer_main_unless_told_otherwise) {
  Bench bench;
  bench.view.cluster_prefixes = {*net::Prefix::parse("10.244.0.0/16")};
  auto& config = bench.config("reply", "203.0.113.45", 0, 1000);
  config.spec.route_table = 100;
  config.spec.source_mode = SourceMode::reply;
  NodeIntent intent = bench.compile();
  EXPECT_EQ(rules(intent), (Texts{"999: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183",
                                  "1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183"}));
  ASSERT_TRUE(intent.desired.nft);
  EXPECT_EQ(intent.desired.nft->vips.begin()->first.text(), "203.0.113.45");
  EXPECT_EQ(intent.desired.nft->own.begin()->text(), "10.244.0.0/16");
  config.spec.prefer_main = false;
  intent = bench.compile();
  EXPECT_EQ(intent.desired.rules.size(), 1U);
}

TEST(SourceRules, a_reply_may_answer_for_an_address_of_the_node_itself) {
  Bench bench;
  bench.view.facts.own = {*net::Address::parse("192.0.2.9")};
  auto& config = bench.config("reply", "192.0.2.9", 0, 1000);
  config.spec.route_table = 100;
  config.spec.source_mode = SourceMode::reply;
  EXPECT_TRUE(bench.compile().refusals.empty());
}

TEST(SourceRules, a_reply_without_room_for_the_look_at_main_is_refused) {
  Bench bench;
  auto& config = bench.config("reply", "203.0.113.45", 0, 1);
  config.spec.route_table = 100;
  config.spec.source_mode = SourceMode::reply;
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(refusals(intent), Texts{"reply PriorityTooLow"});
  EXPECT_TRUE(intent.memory.claims.empty());
}

TEST(SourceRules, many_sources_turn_to_marks_except_where_the_reverse_path_filter_is_strict) {
  Bench bench;
  const auto eth1 = *net::InterfaceName::parse("eth1");
  bench.view.facts.tables = {{.table = 100, .family = net::Family::v4, .routes = 1, .devices = {eth1}}};
  bench.view.facts.reverse_path_filter = {{eth1, 1}};
  auto& config = bench.config("many", "10.96.0.1", 0, 1000);
  config.spec.route_table = 100;
  config.spec.source_mode = SourceMode::endpoints;
  for (int i = 0; i < 300; ++i) {
    config.spec.source_ips.push_back({"10.244." + std::to_string(i / 250) + "." + std::to_string(i % 250), "n1"});
  }
  EXPECT_EQ(bench.compile().desired.rules.size(), 300U);
  bench.view.facts.reverse_path_filter = {{eth1, 2}};
  const NodeIntent intent = bench.compile();
  EXPECT_EQ(intent.desired.rules.size(), 1U);
  EXPECT_EQ(intent.desired.nft->sources.size(), 300U);
  bench.view.facts.nftables = false;
  EXPECT_EQ(bench.compile().desired.rules.size(), 300U);
}

TEST(SourceRules, D36_addresses_are_compared_by_value) {
  Bench bench;
  bench.config("a", "FD00:0::1", 100, 1000);
  bench.config("b", "fd00::1", 100, 1000);
  EXPECT_EQ(bench.compile().desired.rules.size(), 1U);
}

void fill(Bench& bench) {
  const int count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) {
    auto& config = bench.config("c" + std::to_string(i),
                                *rc::gen::element<std::string>("10.96.0.1", "10.96.0.2", "fd00::1", "wrong"),
                                *rc::gen::element(0U, 100U, 200U), *rc::gen::element(0U, 1000U));
    config.epoch = *rc::gen::inRange<std::uint64_t>(1, 4);
    config.trust = *rc::gen::element(Trust::trusted, Trust::trusted, Trust::trusted, Trust::mismatch, Trust::unhashed);
    if (*rc::gen::inRange(0, 4) == 0) config.spec.state = ConfigState::absent;
  }
}

RC_GTEST_PROP(SourceRules, order_means_nothing_and_a_second_pass_changes_nothing, ()) {
  Bench bench;
  fill(bench);
  std::vector<const PublishedConfig*> forward;
  for (const auto& config : bench.configs()) forward.push_back(&config);
  const NodeIntent first = bench.compile(forward);
  std::ranges::reverse(forward);
  const NodeIntent second = bench.compile(forward);
  RC_ASSERT(first.desired == second.desired);
  RC_ASSERT(first.memory.claims == second.memory.claims);
  RC_ASSERT(refusals(first) == refusals(second));
}

RC_GTEST_PROP(SourceRules, one_source_and_priority_never_has_two_tables, ()) {
  Bench bench;
  fill(bench);
  const NodeIntent intent = bench.compile();
  for (std::size_t i = 1; i < intent.desired.rules.size(); ++i) {
    const state::Rule& left = intent.desired.rules[i - 1];
    const state::Rule& right = intent.desired.rules[i];
    RC_ASSERT(std::tie(left.family, left.priority, left.selector) !=
              std::tie(right.family, right.priority, right.selector));
  }
}

}  // namespace
}  // namespace intent
