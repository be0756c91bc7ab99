#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/reported_facts.h"

namespace cli {
namespace {

using api::SourceMode;
using kernel::rtnl::Answering;
using testing::HasSubstr;
using testing::Not;

net::InterfaceName device(std::string_view name) {
  return net::InterfaceName::parse(name).value();
}
net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
state::Rule rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}
state::Route route(std::string_view text) {
  return state::parse_route(net::Family::v4, text).value();
}
api::IPRule wish(std::string name, std::vector<SourceMode> modes) {
  api::IPRule out;
  out.meta.name = std::move(name);
  out.spec.cidrs = {"203.0.113.0/24"};
  out.spec.table = 100;
  out.spec.priority = 1000;
  out.spec.source.modes = std::move(modes);
  return out;
}

// A node behind kube-proxy whose kernel was asked, without a word of any cluster.
class Doctor : public testing::Test {
 protected:
  Answer answer() {
    node_.report.facts = agent::reported(node_.facts);
    return show(node_);
  }
  std::string text() { return answer().page.render({}); }
  state::NodeFacts& facts() { return node_.facts; }
  std::vector<state::Rule>& rules() { return node_.observed->rules; }
  void want(std::vector<api::IPRule> wishes) {
    node_.wishes = NodeWishes{.rules = std::move(wishes),
                              .frontends = {{.vip = ip("203.0.113.45"), .cluster_ips = {ip("10.96.23.17")}}}};
  }
  // As an agent reports it: nobody looks at the kernel.
  void only_report() {
    node_.observed.reset();
    facts().nftables.reset();
    facts().reverse_path_filter.erase(device("eth0"));
  }
  void see(std::string_view vip, kernel::Answerers answerers) {
    node_.replies = weigh(node_.wishes->frontends, {{ip(vip), std::move(answerers)}});
  }

  Examined node_{.facts = {.kernel = "6.12",
                           .service_proxy = state::ServiceProxy::nftables,
                           .conntrack = true,
                           .nftables = true,
                           .local_rule_priority = 0,
                           .reverse_path_filter = {{device("eth0"), 1}, {device("eth1"), 2}},
                           .tables = {{.table = 100, .routes = 1, .devices = {device("eth1")}}}},
                 .observed = state::NetState{.rules = {rule("0: from all lookup local"),
                                                       rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")},
                                             .routes = {route("default via 198.51.100.1 dev eth1 table 100")}},
                 .neighbours = {{.dev = device("eth1"), .address = ip("198.51.100.1"), .answering = Answering::yes}}};
};

TEST_F(Doctor, fault_D3_a_foreign_rule_where_ours_stand_is_named_with_its_likely_owner) {
  EXPECT_THAT(text(), Not(HasSubstr("priorities")));
  rules().push_back(rule("1000: from 10.9.9.9 lookup 7"));  // Has its own packets.
  EXPECT_THAT(text(), Not(HasSubstr("priorities")));
  rules().push_back(rule("1000: from all to 192.0.2.0/24 lookup 7"));
  EXPECT_THAT(text(), HasSubstr("warn  priorities     1000 is ours, and a foreign rule stands there: 1000: from all to "
                                "192.0.2.0/24 lookup 7 (the kernel looks up the table of a VRF device)  IPR0405\n"));
  rules().pop_back();
  rules().push_back(rule("512: from all to 10.0.7.7 lookup main"));
  auto reply = wish("public-eu", {SourceMode::reply});
  reply.spec.priority = 513;
  want({reply});
  EXPECT_THAT(text(), HasSubstr("lookup main (the AWS VPC CNI leads packets to pods)  IPR0405\n"));
}

TEST_F(Doctor, a_node_where_all_is_right) {
  EXPECT_EQ(text(),
            "  ok  kernel 6.12    nftables\n"
            "  ok  service proxy  kube-proxy nftables: replies are routed with the pod's address\n"
            "  ok  conntrack      the kernel follows connections\n"
            "  ok  rp_filter      not strict on any device that the tables lead to\n"
            "  ok  local rule     at 0\n"
            "  ok  mark bits      no foreign rule looks at 0x3f00; kube-proxy has 0x4000 and 0x8000\n"
            "  ok  table 100      default via 198.51.100.1 dev eth1, gateway answers\n"
            "  ok  rule walk      2 rules, 1 ours; auto changes to marks above 256 sources\n"
            "0 warnings.  Works here: Reply (recommended), Endpoints, LocalEndpoints.  Cannot work: ClusterIP, "
            "LoadBalancerIP.\n");
  EXPECT_EQ(answer().code, ExitCode::fine);
}

TEST_F(Doctor, everything_that_stands_in_the_way_has_its_code) {
  rules().push_back(rule("50: from 10.96.23.17 lookup 100 proto 183"));
  rules().push_back(rule("60: from all fwmark 0x100/0xf00 lookup 7"));
  facts().local_rule_priority = 100;
  facts().reverse_path_filter[device("eth1")] = 1;
  rules().push_back(state::parse_rule(net::Family::v6, "50: from fd00::1 lookup 120 proto 183").value());
  facts().tables.push_back({.table = 120, .family = net::Family::v6});
  node_.neighbours[0].answering = Answering::no;
  for (const auto* code : {"IPR0301", "IPR0310", "IPR0313", "IPR0104", "IPR0311", "IPR0312"}) {
    EXPECT_THAT(text(), HasSubstr(code));
  }
  EXPECT_THAT(text(), HasSubstr("6 warnings."));
  EXPECT_EQ(answer().code, ExitCode::attention);
}

TEST_F(Doctor, what_is_not_known_is_not_guessed) {
  facts() = {.kernel = "6.12"};
  EXPECT_THAT(text(), HasSubstr("  ?   kernel 6.12    nftables: unknown\n"));
  EXPECT_THAT(text(), HasSubstr("  ?   service proxy  could not be found out"));
  EXPECT_THAT(text(), HasSubstr("0 warnings.\n"));
  EXPECT_THAT(text(), Not(HasSubstr("kubectl patch")));
}

TEST_F(Doctor, rules_are_ours_by_the_number_that_the_agent_was_given) {
  node_.protocol = 77;
  EXPECT_THAT(text(), HasSubstr("2 rules, 0 ours"));
  EXPECT_THAT(text(), HasSubstr("IPR0104")) << "somebody else looks at our marks";
  rules()[1].protocol = 77;
  EXPECT_THAT(text(), HasSubstr("2 rules, 1 ours"));
}

TEST_F(Doctor, without_a_cluster_the_advice_is_for_whom_it_may_concern) {
  EXPECT_THAT(text(), Not(HasSubstr("kubectl patch"))) << "replies are what is steered here";
  rules().pop_back();
  EXPECT_THAT(text(), HasSubstr("kubectl patch iprule NAME --type=merge"));
}

TEST_F(Doctor, each_IPRule_that_does_not_fit_is_named_with_its_cure) {
  want({wish("fits", {SourceMode::reply}), wish("old", {}), wish("vip", {SourceMode::load_balancer_ip})});
  EXPECT_THAT(text(), HasSubstr("warn  reply source   IPRule/old asks for ClusterIP, which no reply bears here  "
                                "IPR0301\n"));
  EXPECT_THAT(text(), HasSubstr("IPRule/vip asks for LoadBalancerIP, which"));
  EXPECT_THAT(text(), HasSubstr("\n  kubectl patch iprule old --type=merge -p "
                                R"('{"spec":{"source":{"modes":["Reply"]}}}')"));
  EXPECT_THAT(text(), HasSubstr("\n  kubectl patch iprule vip "));
  EXPECT_THAT(text(), Not(HasSubstr("iprule fits")));
  EXPECT_THAT(text(), Not(HasSubstr("iprule NAME")));
  EXPECT_THAT(answer().json, HasSubstr(R"("works":["Reply","Endpoints","LocalEndpoints"])"));
  EXPECT_THAT(answer().json, HasSubstr(R"("fails":["ClusterIP","LoadBalancerIP"],"unfitRules":["old","vip"])"));
}

TEST_F(Doctor, a_report_shows_what_does_not_fit_as_well) {
  only_report();
  want({wish("old", {SourceMode::cluster_ip}), wish("new", {SourceMode::reply})});
  facts().local_rule_priority = 2000;
  facts().reverse_path_filter[device("eth1")] = 1;
  for (const auto* code : {"IPR0301", "IPR0310", "IPR0313"}) EXPECT_THAT(text(), HasSubstr(code));
  EXPECT_EQ(answer().code, ExitCode::attention);
}

TEST_F(Doctor, a_strict_filter_is_no_matter_where_nothing_of_it_is_steered_by_mark) {
  only_report();
  facts().reverse_path_filter[device("eth1")] = 1;
  want({wish("pods", {SourceMode::local_endpoints})});
  EXPECT_THAT(text(), HasSubstr("ok  rp_filter      1 (strict) on eth1, where nothing is steered by mark\n"));
  want({wish("replies", {SourceMode::reply})});
  EXPECT_THAT(text(), HasSubstr("warn  rp_filter      1 (strict) on eth1: drops what is steered by mark  IPR0310\n"));
  node_.wishes->rules[0].spec.table = 120;
  EXPECT_THAT(text(), Not(HasSubstr("IPR0310"))) << "that table leads elsewhere";
  facts().tables.clear();
  EXPECT_THAT(text(), HasSubstr("?   rp_filter      1 (strict) on eth1; its agent is too old to tell"));
}

TEST_F(Doctor, the_look_at_main_stands_before_the_priority) {
  only_report();
  want({wish("replies", {SourceMode::reply})});
  facts().local_rule_priority = 1000;
  EXPECT_THAT(text(), HasSubstr("at 1000, behind rules of ours  IPR0313\n"));
  node_.wishes->rules[0].spec.source.prefer_main = false;
  EXPECT_THAT(text(), HasSubstr("ok  local rule     at 1000\n"));
}

TEST_F(Doctor, a_kernel_that_cannot_tell_replies_is_not_told_to) {
  only_report();
  want({wish("old", {SourceMode::cluster_ip})});
  facts().capabilities = {.rule_protocol = true, .nft_maps = true, .ct_original = false};
  EXPECT_THAT(text(), HasSubstr("Reply and marks cannot work  IPR0319\n"));
  EXPECT_THAT(text(), HasSubstr("Works here: LocalEndpoints (recommended), Endpoints."));
  EXPECT_THAT(text(), HasSubstr(R"("modes":["LocalEndpoints"])"));
  facts().capabilities.ct_original = true;
  EXPECT_THAT(text(), HasSubstr("ok    kernel 6.12    rule protocol: yes,"));
}

TEST_F(Doctor, connections_are_shown_as_evidence) {
  want({wish("public-eu", {SourceMode::cluster_ip})});
  see("203.0.113.45", {{ip("10.244.1.7"), 12}});
  EXPECT_THAT(text(), HasSubstr("warn  reply source   12 flows to 203.0.113.45: routed with source 10.244.1.7, "
                                "original destination 203.0.113.45  IPR0301\n"));
  EXPECT_THAT(text(), HasSubstr("1 warning.")) << "said once";
  EXPECT_THAT(text(), HasSubstr("kubectl patch iprule public-eu"));
  want({wish("public-eu", {SourceMode::reply})});
  see("203.0.113.45", {{ip("10.244.1.7"), 12}});
  EXPECT_THAT(text(), HasSubstr("ok  reply source   12 flows to 203.0.113.45"));
}

TEST_F(Doctor, connections_tell_where_no_proxy_is_seen) {
  facts().service_proxy = state::ServiceProxy::none;
  want({wish("public-eu", {SourceMode::load_balancer_ip})});
  EXPECT_THAT(text(), HasSubstr("Works here: LoadBalancerIP, where an eBPF data path or a bound address answers"));
  EXPECT_THAT(text(), Not(HasSubstr("kubectl patch"))) << "nothing shows that it would help";
  see("203.0.113.45", {{ip("10.244.1.7"), 3}});
  EXPECT_THAT(text(), HasSubstr("Works here: Reply (recommended), Endpoints, LocalEndpoints.  Cannot work: ClusterIP"));
  EXPECT_THAT(text(), HasSubstr("kubectl patch iprule public-eu"));
  see("203.0.113.45", {{ip("10.96.23.17"), 3}});
  EXPECT_THAT(text(), HasSubstr("Works here: ClusterIP (recommended), Reply.")) << "as OVN-Kubernetes does";
  see("203.0.113.45", {{ip("203.0.113.45"), 3}});
  EXPECT_THAT(text(), HasSubstr("Works here: LoadBalancerIP (recommended), Reply."));
  EXPECT_THAT(text(), Not(HasSubstr("kubectl patch"))) << "it has that already";
}

TEST_F(Doctor, too_little_traffic_to_tell_is_said_with_how_to_make_some) {
  want({wish("public-eu", {SourceMode::reply})});
  node_.replies = ReplyEvidence();
  EXPECT_THAT(text(), HasSubstr("?   reply source   too little traffic to tell: no connection to 203.0.113.45 is known "
                                "here; open one from outside, for example curl http://203.0.113.45, and ask again\n"));
  node_.replies->unknown = "not permitted";
  EXPECT_THAT(text(), HasSubstr("?   reply source   connections could not be read: not permitted\n"));
}

TEST_F(Doctor, a_table_may_lack_routes_of_a_family_that_nobody_looks_up) {
  facts().tables.push_back({.table = 100, .family = net::Family::v6});
  EXPECT_THAT(text(), Not(HasSubstr("IPR0311")));
  want({wish("public-eu", {SourceMode::reply})});
  EXPECT_THAT(text(), Not(HasSubstr("IPR0311")));
  node_.wishes->rules[0].spec.cidrs.push_back("2001:db8:f::/64");
  EXPECT_THAT(text(), HasSubstr("no IPv6 route: lookups fall through to the next rule  IPR0311\n"));
}

TEST_F(Doctor, a_gateway_is_shown_as_the_kernel_knows_it) {
  node_.neighbours[0].answering = Answering::formerly;
  EXPECT_THAT(text(), HasSubstr("default via 198.51.100.1 dev eth1, gateway has answered\n"));
  node_.neighbours.clear();
  EXPECT_THAT(text(), HasSubstr("default via 198.51.100.1 dev eth1\n")) << "nobody has asked it yet";
  node_.observed->routes = {route("10.9.0.0/16 via 198.51.100.1 dev eth1 table 100")};
  EXPECT_THAT(text(), HasSubstr("table 100      1 IPv4 route by eth1\n"));
}

}  // namespace
}  // namespace cli
