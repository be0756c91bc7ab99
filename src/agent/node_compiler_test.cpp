#include "agent/node_compiler.h"

#include <gtest/gtest.h>

#include "api/iprule_config.h"
#include "api/kinds.h"

namespace agent {
namespace {

api::IPRuleConfig config(std::uint32_t table) {
  api::IPRuleConfig out;
  out.meta.name = "iprc-10-96-1-50";
  out.meta.uid = "uid";
  out.meta.labels.set(api::kManagedByLabel, std::string(api::kManagedByValue));
  out.meta.owners = {{.api_version = std::string(api::kApiVersion), .kind = "IPRule", .name = "a", .uid = "rule"}};
  out.spec.service_ip = "10.96.1.50";
  out.spec.table = table;
  out.spec.priority = 1000;
  out.meta.annotations.set(api::kSpecHash, api::spec_hash(out.spec));
  return out;
}

Wanted compile(NodeCompiler& compiler, const api::IPRuleConfig& object, const NodeSettings& settings = {},
               const state::NetState& kernel = {}, const state::NodeFacts& facts = {}) {
  const auto published = api::published(object);
  const std::vector<const api::PublishedConfig*> all = {&published};
  return compiler.compile(all, settings, true, {.kernel = &kernel, .facts = facts, .verified = true, .now = {}});
}

TEST(NodeCompiler, a_published_object_is_a_rule) {
  NodeCompiler compiler("worker-1");
  const Wanted wanted = compile(compiler, config(100));
  ASSERT_EQ(wanted.state.rules.size(), 1U);
  EXPECT_EQ(state::text(wanted.state.rules[0]), "1000: from 10.96.1.50 lookup 100 proto 183");
  EXPECT_TRUE(wanted.whole);
}

TEST(NodeCompiler, D6_an_edited_object_keeps_the_rule_it_had_and_holds_up_nobody_else) {
  NodeCompiler compiler("worker-1");
  compile(compiler, config(100));
  auto edited = config(100);
  edited.spec.table = 200;
  const Wanted wanted = compile(compiler, edited);
  ASSERT_EQ(wanted.state.rules.size(), 1U);
  EXPECT_EQ(wanted.state.rules[0].table, 100U);
  EXPECT_TRUE(wanted.whole);
  ASSERT_EQ(wanted.failed.size(), 1U);
  EXPECT_EQ(wanted.failed[0].uid, "uid");
  EXPECT_EQ(wanted.failed[0].reason, "HashMismatch");
}

TEST(NodeCompiler, D6_after_a_restart_an_edited_object_keeps_what_the_kernel_has_for_it) {
  NodeCompiler before("worker-1");
  const Wanted applied = compile(before, config(100));
  state::NetState kernel{.rules = applied.state.rules};
  kernel.rules.push_back(kernel.rules[0]);
  kernel.rules[1].selector.from = net::Prefix::host(net::Address::parse("10.96.9.9").value());
  auto another_table = config(100);
  another_table.spec.table = 200;
  auto absent_by_hand = config(100);
  absent_by_hand.spec.state = api::ConfigState::absent;
  auto orphaned = config(100);
  orphaned.meta.owners.clear();
  auto absent_and_orphaned = absent_by_hand;
  absent_and_orphaned.meta.owners.clear();
  auto unhashed = config(100);
  unhashed.meta.annotations.erase(api::kSpecHash);
  for (const auto& edited : {another_table, absent_by_hand, orphaned, absent_and_orphaned, unhashed}) {
    NodeCompiler after("worker-1");
    const Wanted wanted = compile(after, edited, {}, kernel);
    EXPECT_EQ(wanted.state.rules, applied.state.rules) << "its own, and nobody else's";
    EXPECT_TRUE(wanted.whole);
  }
}

TEST(NodeCompiler, D6_after_a_restart_nothing_goes_while_an_edited_object_may_have_had_another_address) {
  NodeCompiler before("worker-1");
  const state::NetState kernel{.rules = compile(before, config(100)).state.rules};
  auto edited = config(100);
  edited.spec.service_ip = "10.96.1.99";
  NodeCompiler after("worker-1");
  EXPECT_FALSE(compile(after, edited, {}, kernel).whole);
  edited = config(100);
  edited.spec.source_ips = {{.address = "10.96.1.99"}};
  NodeCompiler with_list("worker-1");
  EXPECT_FALSE(compile(with_list, edited, {}, kernel).whole) << "it may have been longer";
  auto never_applied = config(100);
  never_applied.spec.service_ip = "10.96.1.99";
  never_applied.meta.annotations.erase(api::kSpecHash);
  NodeCompiler beside("worker-1");
  EXPECT_TRUE(compile(beside, never_applied, {}, kernel).whole) << "who made that holds up nobody";
}

TEST(NodeCompiler, an_object_that_nobody_applied_holds_up_nobody_who_steers_its_address_by_marks) {
  const auto trusted = api::published(config(100));
  auto by_hand = config(200);
  by_hand.meta.name = by_hand.meta.uid = "by-hand";
  by_hand.meta.annotations.erase(api::kSpecHash);
  const auto forged = api::published(by_hand);
  const std::vector<const api::PublishedConfig*> all = {&trusted, &forged};
  const NodeSettings settings{.dataplane = api::Dataplane::marks};
  const auto seeing = [&](const state::NetState& kernel, std::span<const api::PublishedConfig* const> configs) {
    NodeCompiler compiler("worker-1");
    return compiler.compile(configs, settings, true, {.kernel = &kernel, .facts = {}, .verified = true, .now = {}});
  };
  const Wanted applied = seeing({}, std::span(all).first(1));
  ASSERT_TRUE(applied.state.nft && applied.state.nft->sources.size() == 1);
  EXPECT_TRUE(seeing(applied.state, all).whole);
  EXPECT_FALSE(seeing(applied.state, std::span(all).last(1)).whole) << "nobody else wants that mark";
}

TEST(NodeCompiler, the_settings_give_what_an_object_leaves_open) {
  NodeCompiler compiler("worker-1");
  auto object = config(100);
  object.spec.priority = 0;
  object.meta.annotations.set(api::kSpecHash, api::spec_hash(object.spec));
  const Wanted wanted = compile(compiler, object, {.default_priority = 31000, .protocol = 184});
  ASSERT_EQ(wanted.state.rules.size(), 1U);
  EXPECT_EQ(state::text(wanted.state.rules[0]), "31000: from 10.96.1.50 lookup 100 proto 184");
  ASSERT_EQ(wanted.claims.size(), 1U);
  EXPECT_EQ(wanted.claims[0].uid, "uid");
}

api::IPRuleConfig reply() {
  auto out = config(0);
  out.spec.source_mode = api::SourceMode::reply;
  out.spec.route_table = 100;
  out.meta.annotations.set(api::kSpecHash, api::spec_hash(out.spec));
  return out;
}

TEST(NodeCompiler, a_mark_that_the_kernel_holds_stays_with_its_class_over_a_restart) {
  NodeCompiler first("worker-1");
  Wanted before = compile(first, reply());
  ASSERT_TRUE(before.state.nft);
  // As if another class had held the lowest mark when this one came.
  state::NetState kernel{.rules = before.state.rules, .nft = state::NftTable{.window = before.state.nft->window}};
  for (auto& rule : kernel.rules) rule.selector.mark->value = 0x500;
  kernel.nft->classes[0x500] = {.kind = state::NftClassKind::reply};
  NodeCompiler second("worker-1");
  const Wanted after = compile(second, reply(), {}, kernel);
  EXPECT_EQ(after.state.rules, kernel.rules);
  EXPECT_TRUE(after.state.nft->classes.contains(0x500));
}

TEST(NodeCompiler, H2_marks_keep_out_of_the_bits_of_cilium_also_when_it_comes_later) {
  NodeCompiler compiler("worker-1");
  const Wanted before = compile(compiler, reply());
  EXPECT_EQ(before.state.nft.value().window, 0x3f00U);
  const Wanted after = compile(compiler, reply(), {}, before.state, {.cilium = true});
  EXPECT_EQ(after.state.nft.value().window, 0x3000U);
  EXPECT_TRUE(state::validate(*after.state.nft));
  ASSERT_FALSE(after.state.rules.empty());
  for (const auto& rule : after.state.rules) EXPECT_EQ(rule.selector.mark.value().mask, 0x3000U) << text(rule);
}

TEST(NodeCompiler, without_verdict_maps_no_reply_is_steered) {
  NodeCompiler compiler("worker-1");
  const Wanted wanted = compile(compiler, reply(), {}, {}, {.capabilities = {.nft_maps = false}});
  EXPECT_TRUE(wanted.state.rules.empty());
  ASSERT_EQ(wanted.failed.size(), 1U);
  EXPECT_EQ(wanted.failed[0].reason, "NoNftables");
}

TEST(NodeCompiler, a_flushed_table_comes_back_with_the_same_marks) {
  NodeCompiler compiler("worker-1");
  const Wanted before = compile(compiler, reply());
  const Wanted after = compile(compiler, reply(), {}, {.rules = before.state.rules});
  EXPECT_EQ(after.state, before.state);
}

TEST(NodeCompiler, D54_what_is_programmed_with_a_warning_says_so) {
  NodeCompiler compiler("worker-1");
  EXPECT_TRUE(compile(compiler, config(100)).warnings.empty());
  const Wanted wanted = compile(compiler, config(254));
  EXPECT_EQ(wanted.state.rules.size(), 1U);
  EXPECT_EQ(wanted.warnings, std::vector<std::string>{"iprc-10-96-1-50: table 254 belongs to the system"});
}

}  // namespace
}  // namespace agent
