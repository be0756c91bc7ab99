#include "cli/plan_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/plan_page.h"

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

agent::Manifests manifests(std::string_view text) {
  agent::Manifests out;
  const auto added = agent::add_manifests(out, "x.yaml", text);
  EXPECT_TRUE(added) << added.error().message();
  return out;
}

agent::Manifests rule(std::string_view spec, std::string_view name = "public-eu") {
  return manifests(fmt::format("kind: IPRule\nmetadata: {{name: {}}}\nspec: {{{}}}\n", name, spec));
}

// Two nodes, one Service, one IPRule that steers it by its cluster address.
ClusterObjects shop() {
  ClusterObjects out{.wanted = manifests("kind: IPRule\nmetadata: {name: public-eu}\n"
                                         "spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}\n"
                                         "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
                                         "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
                                         "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n"
                                         "---\nkind: Node\nmetadata: {name: worker-1}\n"
                                         "status: {addresses: [{type: InternalIP, address: 10.0.0.11}]}\n"
                                         "---\nkind: Node\nmetadata: {name: worker-2}\n"
                                         "status: {addresses: [{type: InternalIP, address: 10.0.0.12}]}\n")};
  out.wanted.rules[0].meta.generation = 3;
  for (const char* name : {"worker-1", "worker-2"}) out.reports.emplace_back().meta.name = name;
  return out;
}

std::string page(const ClusterObjects& objects, const agent::Manifests& changes,
                 const ClusterPlanOptions& options = {}) {
  const auto answer = plan_in_cluster(objects, changes, options);
  EXPECT_TRUE(answer) << answer.error().message();
  return answer ? answer->page.render({}) : "";
}

TEST(PlanCluster, tells_the_objects_then_the_nodes_then_the_sum) {
  ClusterObjects objects = shop();
  objects.reports[1].status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  const auto changes = rule("cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [LoadBalancerIP]}");
  const auto answer = plan_in_cluster(objects, changes, {});
  ASSERT_TRUE(answer) << answer.error().message();
  const std::string lines =
      "  + IPv4 rule 1000: from 203.0.113.45 lookup 100 proto 183\n"
      "  - IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n";
  const std::string spared =
      "  protected  API server, node addresses, gateways, DNS: no line is about what a node sends there\n";
  EXPECT_EQ(
      answer->page.render({}),
      "IPRule/public-eu  generation 3 -> 4  spec.source.modes none -> [LoadBalancerIP]  2 nodes\n"
      "worker-1\n" +
          lines + spared + "worker-2\n" + lines +
          "  ! table 100 has no IPv4 route: lookups fall through to main  IPR0311\n" + spared +
          "Plan: 2 to add, 0 to change, 2 to delete on 2 of 2 nodes; 1 warning. As far as objects tell: no kernel "
          "was asked.\n");
  EXPECT_EQ(answer->code, ExitCode::attention);
  EXPECT_THAT(answer->json, HasSubstr(R"({"path":"spec.source.modes","from":null,"to":["LoadBalancerIP"]})"));
  EXPECT_THAT(answer->json,
              HasSubstr(R"("sum":{"add":2,"change":0,"delete":2,"warnings":1,"changingNodes":2,"nodes":2})"));
}

TEST(PlanCluster, an_object_that_comes_to_nothing_says_why) {
  const auto answer = plan_in_cluster(shop(), rule("cidrs: [203.0.113.0/99], table: 7", "wrong"), {});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->page.render({}), HasSubstr("IPRule/wrong  new  2 nodes\n  ! IPRule/wrong: "));
  EXPECT_THAT(answer->page.render({}),
              HasSubstr("IPR0201\nPlan: 0 to add, 0 to change, 0 to delete on 0 of 2 nodes; 1"));
  EXPECT_EQ(answer->code, ExitCode::attention) << "it is wrong, whether it changes anything or not";

  const std::string shadowed = page(shop(), rule("cidrs: [203.0.0.0/16], table: 7", "wide"));
  EXPECT_THAT(shadowed, HasSubstr("  ! IPRule/public-eu: 203.0.113.0/24 takes 203.0.113.45 (shop/frontend) from "
                                  "IPRule/wide  IPR0102\n"));
  const std::string nothing = page(shop(), rule("cidrs: [192.0.2.0/24], table: 7, nodeSelector: {a: b}", "idle"));
  EXPECT_THAT(nothing, HasSubstr("  i IPRule/idle: selects no node: none has the labels a=b  IPR0401\n"));
  EXPECT_THAT(nothing, HasSubstr("  i IPRule/idle: no LoadBalancer Service has an address in its prefixes  IPR0402\n"));
}

TEST(PlanCluster, what_was_wrong_before_and_is_not_touched_is_not_told_again) {
  ClusterObjects objects = shop();
  objects.wanted.rules.push_back(rule("cidrs: [nonsense], table: 7", "old").rules[0]);
  EXPECT_THAT(page(objects, rule("cidrs: [203.0.113.0/24], table: 200, priority: 1000")), Not(HasSubstr("IPRule/old")));
}

TEST(PlanCluster, a_mode_that_is_never_met_there_is_told) {
  ClusterObjects objects = shop();
  for (auto& report : objects.reports) report.status.facts.service_proxy = api::ServiceProxy::nftables;
  EXPECT_THAT(page(objects, rule("cidrs: [203.0.113.0/24], table: 100, priority: 1000")),
              HasSubstr("  ! IPRule/public-eu: no reply carries the source ClusterIP behind kube-proxy nftables"));
}

TEST(PlanCluster, of_a_table_that_nobody_looks_up_yet_nothing_is_claimed) {
  EXPECT_THAT(page(shop(), rule("cidrs: [203.0.113.0/24], table: 200, priority: 1000")),
              HasSubstr("  ? table 200: whether it has IPv4 routes nobody has looked yet; --node asks\n"));
}

TEST(PlanCluster, where_a_node_names_no_address_nobody_is_said_to_be_spared) {
  ClusterObjects objects = shop();
  objects.wanted.nodes[1].addresses.clear();
  EXPECT_THAT(page(objects, rule("cidrs: [203.0.113.0/24], table: 200, priority: 1000")), Not(HasSubstr("protected")));
}

// A manifest of a Service does not say what addresses it was given, and applying it takes none away.
TEST(PlanCluster, a_service_keeps_the_addresses_that_it_was_given) {
  EXPECT_THAT(page(shop(), manifests("kind: Service\nmetadata: {name: frontend, namespace: shop}\n"
                                     "spec: {type: LoadBalancer}\n")),
              StartsWith("Plan: 0 to add, 0 to change, 0 to delete on 0 of 2 nodes."));
}

// The older of two that are alike keeps the address; what comes now is the younger one.
TEST(PlanCluster, a_new_iprule_is_younger_than_those_that_are_there) {
  ClusterObjects objects = shop();
  objects.wanted.rules[0].meta.created = meta::Time(std::chrono::seconds(1'700'000'000));
  EXPECT_THAT(page(objects, rule("cidrs: [203.0.113.0/24], table: 200, priority: 1000", "a-rival")),
              HasSubstr("Plan: 0 to add, 0 to change, 0 to delete on 0 of 2 nodes; 1 warning"));
}

// worker-1 answers, nobody does for worker-2.
base::Result<Answer> ask(const std::string& node, const Question& question) {
  EXPECT_EQ(question.about, Question::About::plan);
  EXPECT_EQ(question.wanted->configs.size(), 1U) << "what would be published";
  EXPECT_EQ(question.wanted->configs[0].spec.service_ip, "203.0.113.45");
  if (node == "worker-2") return base::fail(base::Fault::absent, "no agent runs there");
  plan::Plan plan;
  plan.ops.emplace_back(
      plan::AddRule{.rule = state::parse_rule(net::Family::v4, "7: from 10.1.1.1 lookup 7 proto 183").value()});
  return show_plan(plan, {.title = {}, .skipped = {}, .doubt = {}, .with_sum = false});
}

TEST(PlanCluster, kernels_are_asked_and_objects_stand_in_for_one_that_cannot_be) {
  const auto changes = rule("cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [LoadBalancerIP]}");
  const std::string one = page(shop(), changes, {.nodes = {"worker-1"}, .ask = ask});
  EXPECT_THAT(one,
              HasSubstr("worker-1, by its kernel, asked now\n  + IPv4 rule 7: from 10.1.1.1 lookup 7 proto 183\n"
                        "Plan: 1 to add, 0 to change, 0 to delete on 1 of 1 nodes. By their kernels, asked now.\n"));

  const auto both = plan_in_cluster(shop(), changes, {.ask = ask});
  ASSERT_TRUE(both) << both.error().message();
  EXPECT_THAT(both->page.render({}),
              HasSubstr("Plan: 2 to add, 0 to change, 1 to delete on 2 of 2 nodes. By the kernels "
                        "of 1, and by what objects tell of the others.\n"
                        "Not asked: the kernel of worker-2: no agent runs there\n"));
  EXPECT_EQ(both->code, ExitCode::could_not_ask);
  EXPECT_THAT(both->json, HasSubstr(R"({"nodes":["worker-1"],"source":"kernel","plan":{)"));
}

TEST(PlanCluster, what_is_not_known_whole_is_asked_of_no_kernel) {
  ClusterObjects objects = shop();
  objects.gaps = {"services: 403 Forbidden"};
  const std::string told =
      page(objects, rule("cidrs: [203.0.113.0/24], table: 200, priority: 1000"), {.nodes = {"worker-1"}, .ask = ask});
  EXPECT_THAT(told, HasSubstr("Not asked: services: 403 Forbidden\n"));
  EXPECT_THAT(told,
              HasSubstr("Not asked: the kernel of worker-1: not asked, because what is wanted of it is not known"));
}

}  // namespace
}  // namespace cli
