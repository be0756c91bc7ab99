#include "intent/cluster/desired.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "intent/cluster/naming.h"
#include "intent/cluster/prefix_trie.h"
#include "intent/cluster/sample.h"

namespace intent {
namespace {

using Texts = Sample::Texts;
using Reason = ServiceFinding::Reason;

const RuleOutcome& outcome(const Desired& desired, std::string_view name) {
  return *std::ranges::find(desired.rules, name, [](const RuleOutcome& one) { return one.rule->meta.name; });
}

TEST(Desired, D2_the_most_specific_rule_wins_an_address_across_tables) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("b", {"10.0.0.0/28"}, 200, 1000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  const Desired desired = cluster.desired();
  EXPECT_EQ(Sample::lines(desired), Texts{"10.96.0.1 p1000 t200"});
  EXPECT_TRUE(outcome(desired, "a").conflicts.empty());
  EXPECT_EQ(outcome(desired, "a").shadowed_vips, 1);
  EXPECT_EQ(outcome(desired, "a").matched_vips, 0);
  EXPECT_EQ(outcome(desired, "a").matched_services, 1);
  EXPECT_EQ(outcome(desired, "b").matched_vips, 1);
}

TEST(Desired, who_takes_an_address_from_whom_is_told_for_the_first_few_in_any_order) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("b", {"10.0.0.0/28"}, 200, 1000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.9", "10.0.0.5", "10.0.0.50"});
  cluster.service("mail", {"10.96.0.2"}, {"10.0.0.3", "10.0.0.4"});
  const Desired desired = cluster.desired();
  EXPECT_EQ(outcome(desired, "a").shadowed_vips, 4);
  std::string told;
  for (const Shadowing& one : outcome(desired, "a").shadowings) {
    told += one.prefix.text() + " of " + one.winner->meta.name + " takes " + one.vip.text() + " of " +
            one.service->meta.name + "\n";
  }
  EXPECT_EQ(told,
            "10.0.0.0/28 of b takes 10.0.0.3 of mail\n"
            "10.0.0.0/28 of b takes 10.0.0.4 of mail\n"
            "10.0.0.0/28 of b takes 10.0.0.5 of web\n");
  EXPECT_TRUE(outcome(desired, "b").shadowings.empty());
}

TEST(Desired, D1_two_addresses_of_one_service_may_give_two_objects) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("b", {"10.0.0.0/28"}, 200, 2000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.0.0.50"});
  EXPECT_EQ(cluster.lines(), (Texts{"10.96.0.1 p1000 t100", "10.96.0.1 p2000 t200"}));
}

TEST(Desired, one_source_and_priority_with_two_tables_is_a_conflict_that_the_better_match_wins) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("b", {"10.0.0.0/28"}, 200, 1000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.0.0.50"});
  const Desired desired = cluster.desired();
  EXPECT_EQ(Sample::lines(desired), Texts{"10.96.0.1 p1000 t200"});
  EXPECT_EQ(outcome(desired, "a").conflicts,
            Texts{"source 10.96.0.1 at priority 1000 goes to table 200 (IPRule b), so table 100 of IPRule a gives way; "
                  "give one of them another priority"});
  EXPECT_TRUE(outcome(desired, "b").conflicts.empty());
  ASSERT_EQ(desired.findings.size(), 1U);
  EXPECT_EQ(desired.findings[0].reason, Reason::priority_conflict);
}

TEST(Desired, tables_at_one_priority_do_not_conflict_on_different_nodes) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/24"}, 100, 1000).spec.node_selector = {{"zone", "a"}};
  cluster.rule("b", {"10.0.0.0/28"}, 200, 1000).spec.node_selector = {{"zone", "b"}};
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5", "10.0.0.50"});
  cluster.node("n1", {{"zone", "a"}});
  cluster.node("n2", {{"zone", "b"}});
  EXPECT_EQ(cluster.lines(), (Texts{"10.96.0.1 p1000 t100 on zone=a", "10.96.0.1 p1000 t200 on zone=b"}));
}

TEST(Desired, D8_each_address_is_paired_with_the_source_of_its_family) {
  Sample cluster;
  cluster.rule("c", {"203.0.113.0/24", "2001:db8::/64"}, 100);
  cluster.service("web", {"10.96.1.50", "fd00::50"}, {"203.0.113.9", "2001:db8::9"});
  EXPECT_EQ(cluster.lines(), (Texts{"10.96.1.50 p32765 t100", "fd00::50 p32765 t100"}));
}

TEST(Desired, an_address_without_a_source_of_its_family_is_reported) {
  Sample cluster;
  cluster.rule("c", {"2001:db8::/64"}, 100);
  cluster.service("web", {"10.96.1.50"}, {"2001:db8::9"});
  cluster.service("headless", {}, {"2001:db8::a"});
  const Desired desired = cluster.desired();
  EXPECT_TRUE(desired.configs.empty());
  ASSERT_EQ(desired.findings.size(), 2U);
  EXPECT_EQ(desired.findings[0].reason, Reason::no_cluster_ip);
  EXPECT_EQ(desired.findings[1].reason, Reason::family_mismatch);
}

TEST(Desired, D7_a_service_that_is_no_load_balancer_contributes_nothing) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8"}, 100);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"}).is_load_balancer = false;
  EXPECT_TRUE(cluster.desired().configs.empty());
}

TEST(Desired, a_service_that_is_being_deleted_keeps_its_rule_while_it_has_addresses) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8"}, 100);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"}).meta.deleted = meta::Time(std::chrono::seconds(1));
  EXPECT_EQ(cluster.lines(), Texts{"10.96.0.1 p32765 t100"});
}

TEST(Desired, a_rule_that_is_being_deleted_or_not_accepted_counts_no_more) {
  Sample cluster;
  cluster.rule("gone", {"10.0.0.0/8"}, 100).meta.deleted = meta::Time(std::chrono::seconds(1));
  cluster.rule("wrong", {"10.0.0.5"}, 100);
  cluster.rule("unset", {"10.0.0.0/8"}, 0);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  EXPECT_TRUE(cluster.desired().configs.empty());
}

TEST(Desired, a_host_name_instead_of_an_address_is_reported) {
  Sample cluster;
  cluster.service("web", {"10.96.0.1"}, {}).hostnames = 1;
  ASSERT_EQ(cluster.desired().findings.size(), 1U);
  EXPECT_EQ(cluster.desired().findings[0].reason, Reason::hostname_only_ingress);
}

// Longer prefix, then a given priority, then the lower one, then the older rule, then the name.
TEST(Desired, precedence_is_decided_step_by_step) {
  const auto winner = [](auto change) {
    Sample cluster;
    auto& a = cluster.rule("a", {"10.0.0.0/24"}, 100);
    auto& b = cluster.rule("b", {"10.0.0.0/24"}, 200);
    a.meta.created = b.meta.created = meta::Time(std::chrono::seconds(100));
    change(a, b);
    cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
    return cluster.desired().configs.at(0).owners.at(0)->meta.name;
  };
  EXPECT_EQ(winner([](auto&, auto&) {}), "a");
  EXPECT_EQ(winner([](auto&, auto& b) { b.meta.created -= std::chrono::seconds(1); }), "b");
  EXPECT_EQ(winner([](auto& a, auto& b) {
              a.spec.priority = 2000, b.spec.priority = 1000;
              b.meta.created += std::chrono::seconds(1);
            }),
            "b");
  EXPECT_EQ(winner([](auto& a, auto& b) { a.spec.priority = 0, b.spec.priority = 40000; }), "b");
  EXPECT_EQ(winner([](auto& a, auto& b) {
              a.spec.priority = 1;
              b.spec.cidrs = {"10.0.0.0/25"};
            }),
            "b");
}

TEST(Desired, D5_rules_that_say_the_same_own_the_object_together_and_the_winner_controls_it) {
  Sample cluster;
  cluster.rule("wide", {"10.0.0.0/8"}, 100, 1000);
  cluster.rule("narrow", {"10.0.0.0/24"}, 100, 1000);
  cluster.rule("other", {"10.0.0.0/9"}, 200, 1000);
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  const Desired desired = cluster.desired();
  ASSERT_EQ(desired.configs.size(), 1U);
  Texts owners;
  for (const auto* owner : desired.configs[0].owners) owners.push_back(owner->meta.name);
  EXPECT_EQ(owners, (Texts{"narrow", "wide"}));
  EXPECT_EQ(outcome(desired, "wide").configs, 1);
  EXPECT_EQ(outcome(desired, "other").configs, 0);
}

TEST(Desired, modes_choose_the_source) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8"}, 100, 1000).spec.source.modes = {
      api::SourceMode::cluster_ip, api::SourceMode::load_balancer_ip, api::SourceMode::reply};
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  EXPECT_EQ(cluster.lines(),
            (Texts{"10.0.0.5 p1000 t100 LoadBalancerIP", "10.0.0.5 p1000 t100 Reply", "10.96.0.1 p1000 t100"}));
}

TEST(Desired, replies_to_a_proxied_address_cannot_be_steered_and_it_says_so) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8"}, 100).spec.source.modes = {api::SourceMode::reply};
  auto& service = cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  service.proxied_vips = service.vips;
  EXPECT_TRUE(cluster.desired().configs.empty());
  EXPECT_EQ(cluster.desired().findings.at(0).reason, Reason::proxied_address);
}

TEST(Desired, a_vrf_takes_the_place_of_the_table_and_stands_before_the_kernels_own_rule) {
  Sample cluster;
  cluster.rule("a", {"10.0.0.0/8"}, 0).spec.vrf = "red";
  cluster.service("web", {"10.96.0.1"}, {"10.0.0.5"});
  EXPECT_EQ(cluster.lines(), Texts{"10.96.0.1 p999 vred"});
}

TEST(Naming, base_names_are_valid_and_follow_the_old_project) {
  const auto name = [](const char* text) { return base_name(api::SourceMode::cluster_ip, *net::Address::parse(text)); };
  EXPECT_EQ(name("10.96.1.50"), "iprc-10-96-1-50");
  EXPECT_EQ(name("fd00::1"), "iprc-fd00--1");
  EXPECT_EQ(name("::1"), "iprc---1");
  EXPECT_EQ(name("fd00::"), "iprc-fd00--0");
  EXPECT_EQ(name("2001:db8:0:1:1:1:1:1"), "iprc-2001-db8-0-1-1-1-1-1");
  EXPECT_EQ(base_name(api::SourceMode::reply, *net::Address::parse("192.0.2.1")), "iprc-re-192-0-2-1");
  EXPECT_EQ(base_name(api::SourceMode::load_balancer_ip, *net::Address::parse("192.0.2.1")), "iprc-lb-192-0-2-1");
}

TEST(Naming, full_names_tell_all_tuples_apart) {
  const Tuple tuple{.source = *net::Address::parse("10.96.1.50"), .priority = 1000, .table = 100};
  EXPECT_EQ(full_name(tuple), "iprc-10-96-1-50-t100-p1000");
  Tuple other = tuple;
  other.vrf = "Red_1";
  other.node_selector = {{"a", "b"}};
  EXPECT_EQ(full_name(other).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  EXPECT_NE(full_name(other), full_name(tuple));
}

net::Address arbitrary_address() {
  const bool v6 = *rc::gen::arbitrary<bool>();
  // Few distinct bytes, so that prefixes contain each other often.
  const auto raw =
      *rc::gen::container<std::vector<std::uint8_t>>(v6 ? 16 : 4, rc::gen::element<std::uint8_t>(0, 1, 128));
  return net::Address::from_bytes(std::as_bytes(std::span(raw))).value();
}

RC_GTEST_PROP(PrefixTrie, finds_what_a_linear_search_finds, ()) {
  PrefixTrie<int> trie;
  std::vector<net::Prefix> prefixes;
  const int count = *rc::gen::inRange(0, 20);
  for (int i = 0; i < count; ++i) {
    const net::Address address = arbitrary_address();
    prefixes.emplace_back(address, *rc::gen::inRange(0, address.bits() + 1));
    trie.insert(prefixes.back(), i);
  }
  const net::Address address = arbitrary_address();
  std::vector<int> found;
  int last = -1;
  trie.containing(address, [&](int length, std::span<const int> values) {
    RC_ASSERT(length > last);
    last = length;
    for (const int value : values) {
      RC_ASSERT(prefixes[static_cast<std::size_t>(value)].length() == length);
      found.push_back(value);
    }
  });
  std::vector<int> expected;
  for (int i = 0; i < count; ++i) {
    if (prefixes[static_cast<std::size_t>(i)].contains(address)) expected.push_back(i);
  }
  std::ranges::sort(found);
  RC_ASSERT(found == expected);
}

RC_GTEST_PROP(Naming, different_sources_have_different_names, ()) {
  const net::Address left = arbitrary_address();
  const net::Address right = arbitrary_address();
  const auto name = [](const net::Address& address) { return base_name(api::SourceMode::cluster_ip, address); };
  RC_ASSERT((left == right) == (name(left) == name(right)));
}

Sample arbitrary_cluster() {
  Sample cluster;
  const int rules = *rc::gen::inRange(0, 8);
  for (int i = 0; i < rules; ++i) {
    Texts cidrs;
    const int count = *rc::gen::inRange(0, 3);
    for (int j = 0; j < count; ++j) {
      cidrs.push_back(*rc::gen::element<std::string>("10.0.0.0/8", "10.0.0.0/24", "10.0.0.0/28", "10.0.1.0/24", "wrong",
                                                     "2001:db8::/32", "2001:db8::/64"));
    }
    auto& rule = cluster.rule("r" + std::to_string(i), cidrs, *rc::gen::element(0U, 100U, 200U),
                              *rc::gen::element(0U, 1000U, 2000U, 32765U));
    rule.meta.created = meta::Time(std::chrono::seconds(*rc::gen::inRange(1, 3)));
    if (*rc::gen::arbitrary<bool>()) rule.spec.node_selector = {{"zone", *rc::gen::element<std::string>("a", "b")}};
    if (*rc::gen::arbitrary<bool>()) rule.spec.source.modes = {api::SourceMode::reply, api::SourceMode::cluster_ip};
  }
  const int services = *rc::gen::inRange(0, 6);
  for (int i = 0; i < services; ++i) {
    Texts vips;
    const int count = *rc::gen::inRange(0, 4);
    for (int j = 0; j < count; ++j) {
      vips.push_back(*rc::gen::element<std::string>("10.0.0.5", "10.0.0.50", "10.0.1.1", "11.0.0.1", "2001:db8::9"));
    }
    auto& service = cluster.service("s" + std::to_string(i), {}, vips);
    std::ranges::sort(service.vips);
    service.cluster_ips = {*net::Address::parse("10.96.0." + std::to_string(*rc::gen::inRange(0, 3)))};
    if (*rc::gen::arbitrary<bool>()) service.cluster_ips.push_back(*net::Address::parse("fd00::1"));
  }
  cluster.node("n1", {{"zone", "a"}});
  cluster.node("n2", {});
  return cluster;
}

RC_GTEST_PROP(Desired, does_not_depend_on_the_order_of_its_input, ()) {
  const Sample cluster = arbitrary_cluster();
  auto rules = cluster.rules();
  auto services = cluster.services();
  const Desired expected = cluster.desired(rules, services);
  std::ranges::reverse(rules);
  std::rotate(services.begin(), services.begin() + static_cast<std::ptrdiff_t>(services.size() / 2), services.end());
  const Desired other = cluster.desired(rules, services);
  RC_ASSERT(Sample::lines(expected) == Sample::lines(other));
  for (std::size_t i = 0; i < expected.configs.size(); ++i) {
    RC_ASSERT(expected.configs[i].owners == other.configs[i].owners);
    RC_ASSERT(expected.configs[i].services == other.configs[i].services);
    RC_ASSERT(expected.configs[i].vips == other.configs[i].vips);
  }
  RC_ASSERT(expected.findings.size() == other.findings.size());
}

RC_GTEST_PROP(Desired, no_two_objects_can_disagree_on_a_node, ()) {
  const Sample cluster = arbitrary_cluster();
  const Desired desired = cluster.desired();
  const std::vector<meta::Labels> nodes = {{{"zone", "a"}}, {}};
  for (const DesiredConfig& left : desired.configs) {
    for (const DesiredConfig& right : desired.configs) {
      if (left.tuple.mode != right.tuple.mode || left.tuple.source != right.tuple.source ||
          left.tuple.priority != right.tuple.priority || left.tuple.table == right.tuple.table) {
        continue;
      }
      for (const meta::Labels& node : nodes) {
        RC_ASSERT(!(left.tuple.node_selector.matches(node) && right.tuple.node_selector.matches(node)));
      }
    }
  }
}

}  // namespace
}  // namespace intent
