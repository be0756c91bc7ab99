// What is made of the word of kernels and reports about the replies of a Service, and of our own objects.
#include "cli/explain_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/explain_object.h"
#include "cli/steering.h"

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// One Service with a pod on worker-1, steered by one IPRule with this spec.
ClusterObjects shop(const std::string& spec) {
  ClusterObjects out;
  const auto added = agent::add_manifests(
      out.wanted, "x.yaml",
      "kind: IPRule\nmetadata: {name: public-eu}\nspec: {cidrs: [203.0.113.0/24], priority: 1000, " + spec +
          "}\n---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
          "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
          "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n"
          "---\nkind: EndpointSlice\n"
          "metadata: {name: f, namespace: shop, labels: {kubernetes.io/service-name: frontend}}\n"
          "addressType: IPv4\nendpoints: [{addresses: [10.244.1.7], nodeName: worker-1, conditions: {ready: true}}]\n"
          "---\nkind: Node\nmetadata: {name: worker-1, labels: {site: eu}}\n"
          "---\nkind: Node\nmetadata: {name: worker-2}\n");
  EXPECT_TRUE(added) << added.error().message();
  for (const char* name : {"worker-1", "worker-2"}) {
    api::NodeState& report = out.reports.emplace_back();
    report.meta.name = name;
    report.spec.cluster_prefixes = {"10.244.0.0/16"};
  }
  out.configs = agent::objects_to_publish(out.wanted);
  return out;
}

constexpr std::string_view kTable100 = "table: 100, source: {modes: [Reply]}";

// The kernel of worker-1 says that the reply leaves by this table, by this rule.
std::string page(const ClusterObjects& objects, const std::string& client, int table, const std::string& rule,
                 const std::string& vrfs = "[]") {
  const AskNode ask = [&](const std::string&, const Question&) -> base::Result<Answer> {
    return Answer{
        .page = {},
        .json = fmt::format(R"({{"verdict":{{"table":{}}},"steps":[{{"rule":"{}"}}],"vrfs":{}}})", table, rule, vrfs)};
  };
  const auto answer = explain_service(objects, {.kind = Subject::Kind::service, .name = "frontend"}, "shop",
                                      {.client = net::Address::parse(client).value()}, ask);
  EXPECT_TRUE(answer) << answer.error().message();
  return answer ? answer->page.render({}) : "";
}

TEST(ExplainService, a_reply_by_another_table_is_on_the_wrong_uplink) {
  const ClusterObjects objects = shop(std::string(kTable100));
  EXPECT_THAT(page(objects, "198.18.7.9", 100, "1000: from all fwmark 0x100/0x3f00 lookup 100"),
              HasSubstr("Reply    RIGHT UPLINK: table 100\n"));
  const std::string wrong = page(objects, "198.18.7.9", 254, "32766: from all lookup main");
  EXPECT_THAT(wrong, HasSubstr("Reply    WRONG UPLINK, wanted table 100\n"));
  EXPECT_THAT(wrong, HasSubstr("Verdict  WRONG UPLINK, by a kernel's own word\nNext     iprulectl "));
}

TEST(ExplainService, a_client_to_which_main_has_a_route_of_its_own_is_answered_by_main) {
  const std::string rule = "999: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183";
  EXPECT_THAT(page(shop(std::string(kTable100)), "10.0.0.99", 254, rule),
              HasSubstr("Reply    RIGHT: main has a route of its own to the client, which comes first (preferMain)\n"));
  EXPECT_THAT(page(shop("table: 100, source: {modes: [Reply], preferMain: false}"), "10.0.0.99", 254, rule),
              HasSubstr("WRONG UPLINK"))
      << "it was not to come first";
}

TEST(ExplainService, a_client_inside_the_cluster_is_not_steered_by_reply) {
  EXPECT_THAT(page(shop(std::string(kTable100)), "10.244.2.9", 254, "32766: from all lookup main"),
              HasSubstr("Reply    RIGHT: the client is inside the cluster, and replies to it are not steered\n"));
}

TEST(ExplainService, a_vrf_is_known_by_the_table_that_the_node_gives_it) {
  const ClusterObjects objects = shop("vrf: blue, table: 1");
  const std::string vrfs = R"([{"name":"red","table":7},{"name":"blue","table":10}])";
  EXPECT_THAT(page(objects, "198.18.7.9", 10, "1000: from all lookup 10", vrfs),
              HasSubstr("Reply    RIGHT UPLINK: VRF blue\n"));
  EXPECT_THAT(page(objects, "198.18.7.9", 7, "1000: from all lookup 7", vrfs),
              HasSubstr("Reply    WRONG UPLINK, wanted VRF blue\n"));
  EXPECT_THAT(page(objects, "198.18.7.9", 254, "32766: from all lookup main"), HasSubstr("WRONG UPLINK"))
      << "there is no such VRF on the node";
}

TEST(ExplainService, only_nodes_that_are_selected_have_to_hold_it) {
  const ClusterObjects objects = shop("table: 100, nodeSelector: {site: eu}");
  const auto steerings = Steerings(objects).of(objects.wanted.services[0]);
  ASSERT_EQ(steerings.size(), 1U);
  EXPECT_EQ(steerings[0].nodes, 1U);
}

TEST(ExplainService, the_longest_match_is_told_where_somebody_else_has_a_prefix_too) {
  ClusterObjects objects = shop(std::string(kTable100));
  ASSERT_TRUE(agent::add_manifests(objects.wanted, "y.yaml",
                                   "kind: IPRule\nmetadata: {name: wide}\nspec: {cidrs: [203.0.0.0/16], table: 7}\n"));
  EXPECT_THAT(page(objects, "198.18.7.9", 100, "1000: from all lookup 100"),
              HasSubstr("  203.0.113.0/24 is the longest match, over 203.0.0.0/16 of IPRule/wide\n"));
}

TEST(ExplainService, the_verdict_has_a_code_and_a_next_step) {
  ClusterObjects objects = shop("table: 100");
  objects.wanted.rules[0].status.conditions = {
      {.type = "Effective", .status = meta::Truth::no, .reason = "SourceNeverSeen", .message = "worker-1"}};
  const auto answer =
      explain_service(objects, {.kind = Subject::Kind::service, .name = "frontend"}, "shop", {}, AskNode());
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->page.render({}),
              HasSubstr("Verdict  NOT STEERED AS WANTED  IPR0301\nNext     iprulectl explain IPR0301\n"));
  EXPECT_THAT(answer->page.render({}), HasSubstr("ClusterIP 10.96.23.17, 1 pod\n"));
  EXPECT_THAT(answer->json, HasSubstr(R"("code":"IPR0301")"));
}

base::Result<Answer> explain(const ClusterObjects& objects, std::string_view what) {
  const auto subject = parse_subject(what);
  EXPECT_TRUE(subject) << what;
  return explain_object(objects, *subject);
}

TEST(ExplainObject, an_iprule_says_what_it_steers_and_what_is_wrong_with_it) {
  ClusterObjects objects = shop("table: 100");
  objects.reports[1].status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  objects.wanted.rules[0].status.conditions = {
      {.type = "Accepted", .status = meta::Truth::yes, .reason = "Valid"},
      {.type = "Programmed", .status = meta::Truth::no, .reason = "NodesFailing", .message = "worker-2"}};
  const auto answer = explain(objects, "iprule/public-eu");
  ASSERT_TRUE(answer) << answer.error().message();
  const std::string page = answer->page.render({});
  EXPECT_THAT(page, HasSubstr("IPRule/public-eu  203.0.113.0/24 -> table 100, priority 1000, source ClusterIP\n"
                              "  Service/shop/frontend  ClusterIP 10.96.23.17  NOT AS WANTED  0/2 nodes\n"));
  EXPECT_THAT(page, HasSubstr("  ! Node/worker-2: table 100 has no IPv4 route: lookups fall through to main; used by "
                              "IPRule/public-eu  IPR0311\n"));
  EXPECT_THAT(page, HasSubstr("  Programmed  False  NodesFailing: worker-2\n"));
  EXPECT_THAT(page, Not(HasSubstr("Accepted"))) << "what is well and says nothing is left out";
  EXPECT_THAT(page, HasSubstr("Verdict  NOT AS WANTED  IPR0311\nNext     iprulectl explain IPR0311\n"));
  EXPECT_EQ(answer->code, ExitCode::attention);
  EXPECT_EQ(explain(objects, "ipr/public-ue").error().message(),
            "there is no IPRule \"public-ue\"; did you mean \"public-eu\"?");
}

TEST(ExplainObject, a_published_object_says_for_whom_it_was_made_and_where_it_fails) {
  ClusterObjects objects = shop("table: 100");
  api::IPRuleConfig& config = objects.configs[0];
  config.status.nodes = {{.node = "worker-2", .reason = "NotPermitted", .message = "EPERM"}};
  const auto answer = explain(objects, "iprc/" + config.meta.name);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->page.render({}), HasSubstr("ClusterIP 10.96.23.17 -> table 100, priority 1000, present\n"
                                                 "  made for IPRule/public-eu\n"
                                                 "  worker-2: NotPermitted: EPERM\n"));
  EXPECT_EQ(answer->code, ExitCode::attention);
}

TEST(ExplainObject, an_agent_that_does_not_count_says_so) {
  ClusterObjects objects;
  ASSERT_TRUE(agent::add_manifests(objects.wanted, "x.yaml",
                                   "kind: Agent\nmetadata: {name: agent, namespace: a}\n"
                                   "---\nkind: Agent\nmetadata: {name: other, namespace: b}\n"));
  EXPECT_EQ(explain(objects, "agent/agent")->code, ExitCode::fine);
  const auto other = explain(objects, "agent/other");
  EXPECT_THAT(other->page.render({}), HasSubstr("  does not count: Agent/agent does\n"));
  EXPECT_EQ(other->code, ExitCode::attention);
}

}  // namespace
}  // namespace cli
