#include "api/iprule.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace api {
namespace {

base::Result<IPRule> from_yaml(std::string_view yaml) {
  const auto documents = TRY(json::from_yaml(yaml));
  json::Reader reader;
  return decode_iprule(TRY(reader.parse(documents.at(0))));
}

IPRule with(IPRule::Spec spec) {
  return {.spec = std::move(spec)};
}

TEST(IPRule, both_generations_are_read) {
  const auto newer = from_yaml(
      "metadata: {name: uplink-blue}\n"
      "spec:\n"
      "  cidrs: [203.0.113.0/24, '2001:db8:77::/64']\n"
      "  table: 120\n"
      "  priority: 1500\n"
      "  source: {modes: [ClusterIP, Reply], preferMain: false}\n");
  ASSERT_TRUE(newer) << newer.error().message();
  EXPECT_EQ(newer->spec.table, 120U);
  EXPECT_EQ(newer->modes(), (std::vector{SourceMode::cluster_ip, SourceMode::reply}));
  EXPECT_EQ(newer->spec.source.prefer_main, false);

  const auto older = from_yaml(
      "metadata: {name: uplink-legacy}\n"
      "spec: {cidr: 198.51.100.0/25, table: 121, nodeSelectorLabel: a/b}\n");
  ASSERT_TRUE(older) << older.error().message();
  EXPECT_EQ(older->spec.cidr, "198.51.100.0/25");
  EXPECT_EQ(older->modes(), std::vector{SourceMode::cluster_ip});
}

TEST(IPRule, wrong_fields_are_named) {
  const auto error = [](std::string_view spec) {
    return from_yaml("metadata: {name: a}\nspec: " + std::string(spec)).error().message();
  };
  EXPECT_EQ(error("{table: -5}"), "spec.table: expected a whole number from 0 to 4294967295, found -5");
  EXPECT_EQ(error("{table: 4294967396}"), "spec.table: expected a whole number from 0 to 4294967295, found 4294967396");
  EXPECT_EQ(error("{cidrs: [a, 7]}"), "spec.cidrs[1]: expected a string, found a number");
  EXPECT_EQ(error("{source: {modes: [Pods]}}"),
            "spec.source.modes[0]: \"Pods\" is none of ClusterIP, LoadBalancerIP, Endpoints, LocalEndpoints, Reply");
  EXPECT_EQ(error("{source: Reply}"), "spec.source: expected an object, found a string");
  EXPECT_EQ(error("7"), "spec: expected an object, found a number");
  EXPECT_EQ(error("\n"), "spec: required, expected an object");
}

TEST(IPRule, what_is_written_can_be_read_again) {
  IPRule rule;
  rule.meta.name = "blue";
  rule.spec = {.cidrs = {"10.0.0.0/8"},
               .cidr = "x",
               .table = 7,
               .priority = 9,
               .node_selector = {{"a", "b"}},
               .source = {.modes = {SourceMode::reply}, .prefer_main = true},
               .vrf = "red",
               .node_selector_label = "z"};
  rule.status = {.observed_generation = 3,
                 .cidrs = {"10.0.0.0/8"},
                 .matched_services = 1,
                 .matched_vips = 2,
                 .shadowed_vips = 3,
                 .configs = 4,
                 .dataplane = "rules",
                 .conditions = {{.type = "Accepted", .status = meta::Truth::yes, .reason = "Valid"}}};
  json::Reader reader;
  EXPECT_EQ(decode_iprule(*reader.parse(encode(rule))).value(), rule);
}

TEST(IPRule, prefixes_of_both_fields_count_once_each) {
  const Acceptance out = accept(with({.cidrs = {"2001:db8::/64", "10.0.0.9/24"}, .cidr = "10.0.0.5/24", .table = 1}));
  EXPECT_EQ(out.reason, "Valid");
  EXPECT_EQ(out.prefixes, (std::vector{*net::Prefix::parse("10.0.0.0/24"), *net::Prefix::parse("2001:db8::/64")}));
}

TEST(IPRule, D14_invalid_policy_is_not_silent) {
  const Acceptance out = accept(with({.cidr = "192.168.1.10", .table = 1}));
  EXPECT_FALSE(out.accepted());
  EXPECT_EQ(out.reason, "InvalidCIDR");
  EXPECT_EQ(out.message,
            "spec.cidr: \"192.168.1.10\" has no prefix length: write 192.168.1.10/32 for this one address");
}

TEST(IPRule, valid_siblings_of_a_wrong_prefix_stay_in_use) {
  const Acceptance out = accept(with({.cidrs = {"10.0.0.0/33", "10.1.0.0/16"}, .table = 1}));
  EXPECT_TRUE(out.accepted());
  EXPECT_EQ(out.reason, "PartiallyInvalid");
  EXPECT_NE(out.message.find("spec.cidrs[0]"), std::string::npos);
  EXPECT_EQ(out.prefixes.size(), 1U);
}

TEST(IPRule, D24_table_0_is_refused_with_the_cure) {
  const Acceptance out = accept(with({.cidrs = {"10.0.0.0/8"}, .table = 0}));
  EXPECT_FALSE(out.accepted());
  EXPECT_EQ(out.reason, "TableUnset");
  EXPECT_TRUE(accept(with({.cidrs = {"10.0.0.0/8"}, .vrf = "red"})).accepted());
  EXPECT_EQ(accept(with({.table = 1})).reason, "NoCIDR");
}

}  // namespace
}  // namespace api
