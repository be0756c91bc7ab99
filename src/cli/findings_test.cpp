#include "cli/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/analyze.h"
#include "cli/finding_page.h"

namespace cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kService =
    "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
    "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
    "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n";

agent::Manifests manifests(const std::string& text) {
  agent::Manifests out;
  const auto read = agent::add_manifests(out, "x.yaml", text);
  EXPECT_TRUE(read) << read.error().message();
  return out;
}

std::vector<std::string> found(const std::string& text) {
  std::vector<std::string> out;
  for (const Finding& finding : findings_in(manifests(text))) {
    out.push_back(fmt::format("{} {} {}", cli::text(finding.severity), finding.code, finding.object));
    EXPECT_THAT(finding_codes(), Contains(finding.code)) << "every code has its page";
  }
  return out;
}

// What is told of one code: "object: message".
std::vector<std::string> told(const agent::Manifests& objects, std::string_view code,
                              const std::vector<NodeSight>& nodes = {}) {
  std::vector<std::string> out;
  for (const Finding& finding : findings_in(objects, nodes)) {
    if (finding.code == code) out.push_back(fmt::format("{}: {}", finding.object, finding.message));
  }
  return out;
}

TEST(Findings, right_manifests_have_no_findings) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}\n" +
                    std::string(kService)),
              IsEmpty());
}

TEST(Findings, mistakes_are_found_the_worst_first) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24, 1.2.3.4/99], table: 100}\n"
                    "---\nkind: IPRule\nmetadata: {name: b}\nspec: {cidrs: [203.0.113.32/27], table: 100}\n"
                    "---\nkind: IPRule\nmetadata: {name: c}\nspec: {cidrs: [192.0.2.0/24]}\n"
                    "---\nkind: IPRule\nmetadata: {name: d}\n"
                    "spec: {cidrs: [192.0.2.0/24], table: 7, priority: 40000, nodeSelectorLabel: x}\n" +
                    std::string(kService)),
              ElementsAre("error IPR0201 IPRule/c", "warning IPR0102 IPRule/b", "warning IPR0201 IPRule/a",
                          "warning IPR0404 IPRule/d", "info IPR0402 IPRule/d", "info IPR0403 IPRule/d"));
}

TEST(Findings, fault_D3_D4_numbers_that_others_use_are_told_with_their_owner) {
  const auto rule =
      manifests("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 254, priority: 100}\n");
  EXPECT_THAT(told(rule, "IPR0405"),
              ElementsAre("IPRule/a: spec.table: 254 is where the kernel keeps main",
                          "IPRule/a: spec.priority: 100 is where Cilium keeps the rule for local, which it moves from "
                          "0"))
      << "the worse first: the kernel is on every node";
  EXPECT_EQ(analyze({.wanted = rule}, {})->code, ExitCode::attention);
  const auto only_cilium =
      manifests("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 100}\n");
  EXPECT_EQ(analyze({.wanted = only_cilium}, {})->code, ExitCode::fine) << "nobody knows whether it is there";
}

TEST(Findings, an_annotation_silences_a_code_for_its_object) {
  EXPECT_THAT(found("kind: IPRule\nmetadata:\n  name: a\n  annotations:\n"
                    "    iprule.operator.brtrm.dev/ignore-findings: IPR0404, IPR0402\n"
                    "spec: {cidrs: [192.0.2.0/24], table: 7, priority: 40000}\n" +
                    std::string(kService)),
              IsEmpty());
}

TEST(Findings, of_rules_alone_nobody_can_say_that_they_match_nothing) {
  EXPECT_THAT(found("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [192.0.2.0/24], table: 7}\n"), IsEmpty());
}

TEST(Findings, who_takes_which_address_from_whom_is_named) {
  const auto two = manifests(
      "kind: IPRule\nmetadata: {name: public-eu}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n"
      "---\nkind: IPRule\nmetadata: {name: public-de}\nspec: {cidrs: [203.0.113.32/27], table: 200}\n" +
      std::string(kService));
  EXPECT_THAT(
      told(two, "IPR0102"),
      ElementsAre("IPRule/public-de: 203.0.113.32/27 takes 203.0.113.45 (shop/frontend) from IPRule/public-eu"));
}

TEST(Findings, an_iprule_that_selects_no_node_is_told_where_nodes_are_known) {
  const std::string rule =
      "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, nodeSelector: {site: eu}}\n";
  EXPECT_THAT(told(manifests(rule), "IPR0401"), IsEmpty()) << "of no nodes nobody can say what they are labelled";
  EXPECT_THAT(told(manifests(rule + "---\nkind: Node\nmetadata: {name: worker-1}\n"), "IPR0401"),
              ElementsAre("IPRule/a: selects no node: none has the labels site=eu"));
  EXPECT_THAT(told(manifests(rule + "---\nkind: Node\nmetadata: {name: worker-1, labels: {site: eu}}\n"), "IPR0401"),
              IsEmpty());
}

// Two selectors clash only where a node has the labels of both.
TEST(Findings, rules_for_the_same_node_conflict_although_their_selectors_differ) {
  const std::string rules =
      "kind: IPRule\nmetadata: {name: a}\n"
      "spec: {cidrs: [203.0.113.0/24], table: 100, priority: 900, nodeSelector: {site: eu}}\n"
      "---\nkind: IPRule\nmetadata: {name: b}\n"
      "spec: {cidrs: [198.51.100.0/24], table: 200, nodeSelector: {rack: r1}}\n"
      "---\nkind: Agent\nmetadata: {name: agent, namespace: net}\nspec: {defaultPriority: 900}\n"
      "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
      "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
      "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}, {ip: 198.51.100.7}]}}\n";
  EXPECT_THAT(told(manifests(rules), "IPR0101"), IsEmpty());
  const auto with_node = manifests(rules + "---\nkind: Node\nmetadata: {name: w, labels: {site: eu, rack: r1}}\n");
  EXPECT_EQ(told(with_node, "IPR0101").size(), 2U) << "the IPRule and the Service hear of it";
}

std::vector<NodeSight> three_nodes() {
  std::vector<NodeSight> out = {{.name = "worker-1"}, {.name = "worker-2"}, {.name = "worker-3"}};
  for (NodeSight& node : out) node.facts.service_proxy = state::ServiceProxy::nftables;
  return out;
}

TEST(Findings, what_nodes_show_is_told_of_the_iprules_that_need_it) {
  auto nodes = three_nodes();
  nodes[2].facts.tables = {{.table = 100, .family = net::Family::v4}, {.table = 7, .family = net::Family::v4}};
  nodes[1].clash = "1000: from 10.96.23.17 lookup 7 stands beside ours";
  const auto rule = manifests("kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n");
  EXPECT_THAT(
      told(rule, "IPR0311", nodes),
      ElementsAre("Node/worker-3: table 100 has no IPv4 route: lookups fall through to main; used by IPRule/a"));
  EXPECT_THAT(
      told(rule, "IPR0301", nodes),
      ElementsAre("IPRule/a: no reply carries the source ClusterIP behind kube-proxy nftables; works there: Reply "
                  "(recommended), Endpoints, LocalEndpoints: worker-1, worker-2, worker-3 (3 alike)"));
  EXPECT_THAT(told(rule, "IPR0105", nodes),
              ElementsAre("Node/worker-2: 1000: from 10.96.23.17 lookup 7 stands beside ours"));
  const auto answer = analyze({.wanted = rule}, {}).value();
  EXPECT_EQ(answer.code, ExitCode::fine) << "without nodes nothing is known of them";
}

TEST(Findings, strict_filters_matter_where_marks_choose_the_way) {
  auto nodes = three_nodes();
  nodes[0].facts.reverse_path_filter = {{net::InterfaceName::parse("eth1").value(), 1}};
  const std::string start = "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100, source: ";
  EXPECT_EQ(told(manifests(start + "{modes: [Reply]}}\n"), "IPR0310", nodes).size(), 1U);
  EXPECT_THAT(told(manifests(start + "{modes: [Reply]}}\n"), "IPR0301", nodes), IsEmpty());
  EXPECT_THAT(told(manifests(start + "{modes: [LocalEndpoints]}}\n"), "IPR0310", nodes), IsEmpty());
  nodes[0].marks = true;
  EXPECT_EQ(told(manifests(start + "{modes: [LocalEndpoints]}}\n"), "IPR0310", nodes).size(), 1U);
}

TEST(Findings, a_load_balancers_address_is_met_behind_ipvs_alone) {
  auto nodes = three_nodes();
  const auto rule = manifests(
      "kind: IPRule\nmetadata: {name: a}\n"
      "spec: {cidrs: [203.0.113.0/24], table: 100, source: {modes: [ClusterIP, LoadBalancerIP]}}\n");
  EXPECT_EQ(told(rule, "IPR0301", nodes).size(), 1U);
  for (NodeSight& node : nodes) node.facts.service_proxy = state::ServiceProxy::ipvs;
  EXPECT_THAT(told(rule, "IPR0301", nodes), IsEmpty());
}

TEST(Findings, a_default_priority_behind_main_counts_too) {
  const auto rule = manifests(
      "kind: IPRule\nmetadata: {name: a}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n"
      "---\nkind: Agent\nmetadata: {name: agent, namespace: net}\nspec: {defaultPriority: 32767}\n");
  EXPECT_THAT(told(rule, "IPR0404"),
              ElementsAre("IPRule/a: the Agent's defaultPriority: 32767 is behind the rule for main at 32766"));
}

TEST(Analyze, uses_what_nodes_of_the_cluster_report) {
  ClusterObjects objects{.wanted = manifests("kind: IPRule\nmetadata: {name: a}\n"
                                             "spec: {cidrs: [203.0.113.0/24], table: 100, source: {modes: [Reply]}}\n"
                                             "---\nkind: Node\nmetadata: {name: worker-1}\n")};
  api::NodeState& report = objects.reports.emplace_back();
  report.meta.name = "worker-1";
  report.status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  const Answer answer = analyze(objects, {}).value();
  EXPECT_EQ(answer.page.render({}),
            "warning  IPR0311  Node/worker-1  table 100 has no IPv4 route: lookups fall through to main; used by "
            "IPRule/a\n"
            "0 errors, 1 warning, 0 info in 1 object.  Meaning and cure: iprulectl explain IPR0311\n");
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_NE(answer.json.find(R"("nodes":["worker-1"])"), std::string::npos) << answer.json;

  AnalyzeOptions rows;
  rows.style = {.wide = true, .headers = false, .sort_by = "{.code}"};
  const Answer list = analyze(objects, rows).value();
  EXPECT_EQ(list.page.render({}),
            "warning  IPR0311  Node/worker-1  table 100 has no IPv4 route: lookups fall through to main; used by "
            "IPRule/a  worker-1\n")
      << "nothing but rows";
  EXPECT_EQ(list.names, std::vector<std::string>{"node/worker-1"});
  rows.style.sort_by = "{.cod}";
  EXPECT_EQ(analyze(objects, rows).error().message(),
            "--sort-by: no row has a field \"{.cod}\"; did you mean \"code\"?");
  objects.gaps = {"services: 403 Forbidden"};
  EXPECT_NE(analyze(objects, {})->json.find(R"("notAsked":["services: 403 Forbidden"])"), std::string::npos);
}

}  // namespace
}  // namespace cli
