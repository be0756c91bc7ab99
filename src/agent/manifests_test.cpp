#include "agent/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

constexpr std::string_view kRuleText = R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public}
spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}
)";
constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: shop}
spec: {type: LoadBalancer, clusterIP: 10.96.23.17, clusterIPs: [10.96.23.17]}
status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}
)";

std::string error_of(std::string_view text) {
  Manifests manifests;
  const auto status = add_manifests(manifests, "x.yaml", text);
  return status ? "" : status.error().message();
}

TEST(Manifests, both_kinds_are_read_from_one_text) {
  Manifests manifests;
  ASSERT_TRUE(add_manifests(manifests, "all.yaml", std::string(kRuleText) + "---" + std::string(kService)));
  ASSERT_EQ(manifests.rules.size(), 1U);
  EXPECT_EQ(manifests.rules[0].spec.table, 100U);
  ASSERT_EQ(manifests.services.size(), 1U);
  EXPECT_TRUE(manifests.services[0].is_load_balancer);
}

TEST(Manifests, a_list_is_its_items) {
  Manifests manifests;
  ASSERT_TRUE(add_manifests(manifests, "list.json", R"({"kind": "List", "items": [
      {"kind": "IPRule", "metadata": {"name": "a"}, "spec": {"cidr": "10.0.0.0/8", "table": 7}}]})"));
  EXPECT_EQ(manifests.rules.size(), 1U);
}

TEST(Manifests, what_is_named_may_be_any_kind_of_file_and_must_be_there) {
  EXPECT_TRUE(read_manifests("/dev/null")) << "as a pipe";
  EXPECT_EQ(read_manifests("/nowhere").error().message(), "/nowhere: No such file or directory");
}

TEST(Manifests, an_error_names_file_line_column_and_field) {
  EXPECT_EQ(error_of(std::string(kRuleText) + "---\nkind: IPRule\nmetadata: {name: b}\nspec: {table: lots}"),
            "x.yaml:9:15: spec.table: expected a number, found a string");
  EXPECT_EQ(error_of("kind: IPRul\nmetadata: {name: b}"),
            "x.yaml:1:7: kind: \"IPRul\" is not read here; use IPRule, Agent, Service, EndpointSlice or Node");
  EXPECT_EQ(error_of(std::string(kRuleText) + "---" + std::string(kRuleText)),
            "x.yaml:7:1: IPRule public is there twice");
}

constexpr std::string_view kOthers = R"(
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: frontend, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: frontend, namespace: shop}
---
replicas: 3
)";

TEST(Manifests, files_that_somebody_keeps_for_a_cluster_are_read_past_what_is_not_ours) {
  Manifests manifests;
  const auto read = add_manifests(manifests, "all.yaml", std::string(kRuleText) + "---" + std::string(kOthers),
                                  OtherKinds::pass_over);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(manifests.rules.size(), 1U);
  EXPECT_TRUE(manifests.services.empty()) << "a Service of another group is another kind";
  EXPECT_EQ(manifests.passed_over, 3U);
  const auto wrong = add_manifests(manifests, "x.yaml", "kind: IPRule\nmetadata: {name: b}\nspec: {tabel: 7}\n",
                                   OtherKinds::pass_over);
  EXPECT_FALSE(wrong) << "what is ours is read as strictly as ever";
}

TEST(Manifests, a_folder_that_is_the_whole_has_no_other_kinds) {
  EXPECT_EQ(error_of(kOthers), "x.yaml:2:13: apiVersion: the Service of \"serving.knative.dev/v1\" is not read here");
}

TEST(Manifests, a_mistyped_field_is_not_taken_for_an_absent_one) {
  EXPECT_EQ(error_of("kind: IPRule\nmetadata: {name: b}\nspec:\n  cidrs: [10.0.0.0/8]\n  tabel: 100\n"),
            "x.yaml:5:10: spec.tabel: unknown field; did you mean table?");
  EXPECT_EQ(error_of("kind: IPRule\nmetadata: {name: b}\nspec:\n  table: 100\n  source: {mode: [Reply]}\n"),
            "x.yaml:5:12: spec.source.mode: unknown field; did you mean modes?");
  EXPECT_EQ(error_of("kind: Agent\nmetadata: {name: agent}\nspec:\n  dataplan: marks\n"),
            "x.yaml:4:13: spec.dataplan: unknown field; did you mean dataplane?");
}

TEST(Manifests, an_order_about_rules_of_others_is_read_whole_or_not_at_all) {
  const std::string agent = "kind: Agent\nmetadata: {name: agent}\nspec:\n  foreignRules: ";
  EXPECT_EQ(error_of(agent + "{policy: Prune, tables: [100], sources: [10.96.0.0/16]}\n"), "");
  EXPECT_THAT(error_of(agent + "{policy: Report, tables: [100], sources: [10.96.0.0/16, bad]}\n"),
              testing::HasSubstr("spec.foreignRules.sources[1]: "));
  EXPECT_THAT(error_of(agent + "{policy: Prune, tables: [100]}\n"),
              testing::HasSubstr("spec.foreignRules: policy Prune needs sources and tables"));
}

TEST(Manifests, a_syntax_error_names_its_place) {
  EXPECT_EQ(error_of("kind: IPRule\nkind: IPRule\n"), "x.yaml:2:1: duplicate key");
}

TEST(Manifests, a_folder_that_is_not_there_is_wrong_input_and_not_an_empty_one) {
  const auto manifests = read_manifests("/nonexistent/folder");
  ASSERT_FALSE(manifests);
  EXPECT_EQ(manifests.error().fault(), base::Fault::invalid);
  EXPECT_EQ(manifests.error().message(), "/nonexistent/folder: No such file or directory");
}

}  // namespace
}  // namespace agent
