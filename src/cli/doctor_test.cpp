#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::HasSubstr;

net::InterfaceName device(std::string_view name) {
  return net::InterfaceName::parse(name).value();
}
state::Rule rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

class Doctor : public testing::Test {
 protected:
  std::string text() { return show_facts(facts_, observed_).page.render({}); }

  state::NodeFacts facts_{.kernel = "6.12",
                          .service_proxy = state::ServiceProxy::nftables,
                          .conntrack = true,
                          .nftables = true,
                          .local_rule_priority = 0,
                          .reverse_path_filter = {{device("eth0"), 1}, {device("eth1"), 2}},
                          .tables = {{.table = 100, .routes = 1, .devices = {device("eth1")}}}};
  state::NetState observed_{
      .rules = {rule("0: from all lookup local"), rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")}};
};

TEST_F(Doctor, a_node_where_all_is_right) {
  EXPECT_EQ(text(),
            "  ok  kernel 6.12    nftables\n"
            "  ok  service proxy  kube-proxy nftables: replies are routed with the pod's address\n"
            "  ok  conntrack      the kernel follows connections\n"
            "  ok  rp_filter      not strict on any device that the tables lead to\n"
            "  ok  local rule     at 0\n"
            "  ok  mark bits      no foreign rule looks at 0x3f00\n"
            "  ok  table 100      1 IPv4 route by eth1\n"
            "  ok  rule walk      2 rules, 1 ours\n"
            "0 warnings.  Works here: Reply (recommended), LocalEndpoints.  Cannot work: ClusterIP, LoadBalancerIP.\n"
            "  kubectl patch iprule NAME --type=merge -p '{\"spec\":{\"source\":{\"modes\":[\"Reply\"]}}}'\n");
  EXPECT_EQ(show_facts(facts_, observed_).code, ExitCode::fine);
}

TEST_F(Doctor, everything_that_stands_in_the_way_has_its_code) {
  observed_.rules.push_back(rule("50: from 10.96.23.17 lookup 100 proto 183"));
  observed_.rules.push_back(rule("60: from all fwmark 0x100/0xf00 lookup 7"));
  facts_.local_rule_priority = 100;
  facts_.reverse_path_filter[device("eth1")] = 1;
  facts_.tables[0].family = net::Family::v4;
  facts_.tables.push_back({.table = 100, .family = net::Family::v6});
  for (const auto* code : {"IPR0301", "IPR0310", "IPR0313", "IPR0104", "IPR0311"}) EXPECT_THAT(text(), HasSubstr(code));
  EXPECT_THAT(text(), HasSubstr("5 warnings."));
  EXPECT_EQ(show_facts(facts_, observed_).code, ExitCode::attention);
}

TEST_F(Doctor, what_is_not_known_is_not_guessed) {
  facts_ = {.kernel = "6.12"};
  EXPECT_THAT(text(), HasSubstr("  ?   service proxy  could not be found out"));
  EXPECT_THAT(text(), HasSubstr("0 warnings.\n"));
  EXPECT_EQ(text().find("kubectl patch"), std::string::npos);
}

}  // namespace
}  // namespace cli
