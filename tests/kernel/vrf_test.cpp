// Rules to the table of a VRF: the agent's loop follows the device. Only for a kernel that has VRFs, which is User-mode
// Linux here.
#include <string>
#include <vector>

#include "agent/node_compiler.h"
#include "agent/node_loop.h"
#include "api/iprule_config.h"
#include "api/kinds.h"
#include "testbed/eventually.h"
#include "tests/kernel/sandbox.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// As the controller publishes it.
api::PublishedConfig config_for(const std::string& vrf) {
  api::IPRuleConfig out;
  out.meta.name = "iprc-10-96-1-50";
  out.meta.uid = "uid";
  out.meta.labels.set(api::kManagedByLabel, std::string(api::kManagedByValue));
  out.meta.owners = {{.api_version = std::string(api::kApiVersion), .kind = "IPRule", .name = "a", .uid = "rule"}};
  out.spec.service_ip = "10.96.1.50";
  out.spec.vrf = vrf;
  out.meta.annotations.set(api::kSpecHash, api::spec_hash(out.spec));
  return api::published(out);
}

class Vrf : public Sandbox {
 protected:
  // Passes as the loop makes them, until our rules are these. Without an audit, so that it is the kernel's own word
  // that a link has changed; `done_` is what they did.
  testing::AssertionResult rules_become(const std::string& lines) {
    done_.clear();
    std::string now;
    const auto result = testbed::eventually("our rules are: " + lines, 30s, [&] {
      const auto looked = loop_.pass({});
      EXPECT_TRUE(looked && *looked);
      if (!looked || !*looked) return false;
      last_ = **looked;
      done_ += text(last_.report.done);
      now.clear();
      for (const state::Rule& rule : state::state_of(last_.report.after).rules) {
        if (rule.protocol == 183) now += state::text(rule) + "\n";
      }
      return now == lines && last_.report.settled();
    });
    return result ? result : testing::AssertionFailure() << result.message() << "they are: " << now;
  }
  std::string refusal() const {
    return last_.wanted.failed.size() == 1 ? last_.wanted.failed[0].reason + ": " + last_.wanted.failed[0].message : "";
  }

  const api::PublishedConfig config_ = config_for("red");
  NodeCompiler compiler_{"worker-1"};
  runtime::Signal changed_;
  NodeLoop loop_{[this](const Sight& sight) {
                   const std::vector<const api::PublishedConfig*> all = {&config_};
                   return std::optional(compiler_.compile(all, {}, true, sight));
                 },
                 changed_,
                 {.audit = 24h}};
  Pass last_;
  std::string done_;
};

TEST_F(Vrf, a_rule_follows_the_table_of_its_device_without_a_gap_and_goes_with_it) {
  ASSERT_TRUE(rules_become(""));
  EXPECT_EQ(refusal(), "VRFNotFound: there is no VRF device red on this node");
  run("ip link add red type vrf table 10");
  ASSERT_TRUE(rules_become("999: from 10.96.1.50 lookup 10 proto 183\n"));
  EXPECT_EQ(refusal(), "");
  // The kernel gives a device no other table: it is made anew.
  run("ip link del red && ip link add red type vrf table 20");
  ASSERT_TRUE(rules_become("999: from 10.96.1.50 lookup 20 proto 183\n"));
  EXPECT_EQ(done_,
            "add IPv4 rule 999: from 10.96.1.50 lookup 20 proto 183\n"
            "remove IPv4 rule 999: from 10.96.1.50 lookup 10 proto 183\n");
  run("ip link del red");
  ASSERT_TRUE(rules_become(""));
  EXPECT_EQ(refusal(), "VRFNotFound: there is no VRF device red on this node");
}

}  // namespace
}  // namespace agent
