#include "intent/cluster/number_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/agent.h"

namespace intent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

api::IPRule rule(std::uint32_t priority, std::uint32_t table = 100) {
  api::IPRule out;
  out.spec.cidrs = {"203.0.113.0/24"};
  out.spec.table = table;
  out.spec.priority = priority;
  return out;
}

std::vector<std::string> told(const api::IPRule& rule, std::uint32_t default_priority = api::kDefaultPriority) {
  std::vector<std::string> out;
  for (const NumberAdvice& advice : number_advice(rule, default_priority)) {
    out.push_back(advice.field + ": " + advice.text);
  }
  return out;
}

// Of the documentation's examples, and the default: whoever uses them hears nothing.
TEST(NumberAdvice, usual_numbers_need_none) {
  for (const std::uint32_t priority : {0U, 999U, 1000U, 1500U, 2000U, 32765U}) {
    EXPECT_THAT(told(rule(priority)), IsEmpty()) << priority;
  }
}

TEST(NumberAdvice, fault_D3_a_priority_that_a_network_plugin_uses_is_told_with_its_owner) {
  EXPECT_THAT(told(rule(100)),
              ElementsAre("spec.priority: 100 is where Cilium keeps the rule for local, which it moves from 0"));
  EXPECT_THAT(told(rule(1536)), ElementsAre("spec.priority: 1536 is where the AWS VPC CNI leads what pods send"));
  EXPECT_THAT(told(rule(220)), ElementsAre("spec.priority: 220 is where strongSwan looks up its table"));
  EXPECT_THAT(told(rule(0), 32500),
              ElementsAre("the Agent's defaultPriority: 32500 is where Talos leads packets of KubeSpan"));
}

TEST(NumberAdvice, fault_D3_a_priority_before_a_moved_local_rule_is_told) {
  EXPECT_THAT(told(rule(50)),
              ElementsAre("spec.priority: 50 comes before the rule for local where Cilium has moved that to 100"));
  EXPECT_THAT(told(rule(15)), testing::SizeIs(2)) << "Cilium's and the AWS VPC CNI's";
  EXPECT_THAT(told(rule(101)), IsEmpty());
}

// Its second rule stands one before it.
TEST(NumberAdvice, fault_D3_a_reply_takes_two_priorities) {
  api::IPRule reply = rule(101);
  reply.spec.source.modes = {api::SourceMode::reply};
  EXPECT_THAT(told(reply), ElementsAre("spec.priority: 101 needs the one before it for its look at main: 100 is where "
                                       "Cilium keeps the rule for local, which it moves from 0"));
  reply.spec.source.prefer_main = false;
  EXPECT_THAT(told(reply), IsEmpty());
}

TEST(NumberAdvice, fault_D4_a_table_of_the_kernel_or_of_a_network_plugin_is_told) {
  EXPECT_THAT(told(rule(1500, 2004)),
              ElementsAre("spec.table: 2004 is where Cilium keeps the routes to and from its proxy"));
  const auto main = number_advice(rule(1500, 254), api::kDefaultPriority);
  EXPECT_THAT(main, ElementsAre(NumberAdvice{
                        .field = "spec.table", .text = "254 is where the kernel keeps main", .is_kernels = true}));
  api::IPRule vrf = rule(999, 0);
  vrf.spec.vrf = "blue";
  EXPECT_THAT(told(vrf), IsEmpty());
}

}  // namespace
}  // namespace intent
