// What one source is asked for changes, or is more than one thing: from the IPRule to the kernel of a node.
#include <sstream>

#include <gmock/gmock.h>

#include "at_work.h"

namespace cluster_test {
namespace {

class ReplacedRules : public AtWork {
 protected:
  void SetUp() override {
    AtWork::SetUp();
    worker_ = &add_worker("worker-1");
  }

  // The fewest rules that stood for the source at any time, if there was one at the beginning.
  static int fewest(const std::string& changes, const std::string& source) {
    int now = 1;
    int least = 1;
    std::istringstream lines(changes);
    for (std::string line; std::getline(lines, line);) {
      if (!line.contains("from " + source + " ")) continue;
      now += line.starts_with("Deleted") ? -1 : 1;
      least = std::min(least, now);
    }
    return least;
  }
  std::string rules_from(const std::string& source) {
    std::string out;
    std::istringstream lines(rules(*worker_));
    for (std::string line; std::getline(lines, line);) {
      if (line.contains("from " + source + " ")) out += line + "\n";
    }
    return out;
  }
  testing::AssertionResult has_exactly(const std::string& source, const std::string& wanted) {
    return eventually("the rules are as wanted", kBound, [&] { return rules_from(source) == wanted; });
  }

  Worker* worker_ = nullptr;
};

TEST_F(ReplacedRules, D11_with_another_table_one_of_the_two_rules_stands_at_any_time) {
  put_rule("blue", "203.0.113.0/24", 100);
  const std::string source = put_service("web", "203.0.113.5");
  ASSERT_TRUE(appears(*worker_, source));
  const testbed::Process& changes = watch_rules(*worker_);
  put_rule("blue", "203.0.113.0/24", 101);
  EXPECT_TRUE(has_exactly(source, fmt::format("1000:\tfrom {} lookup 101 proto 183\n", source))) << rules(*worker_);
  const std::string end = fmt::format("Deleted 1000:\tfrom {} lookup 100 ", source);
  EXPECT_TRUE(eventually("the last change is seen", kBound, [&] { return changes.output().contains(end); }));
  EXPECT_EQ(fewest(changes.output(), source), 1) << changes.output();
  EXPECT_TRUE(eventually("one object is left", kBound, [&] { return published() == source; })) << published();
}

TEST_F(ReplacedRules, D1_two_addresses_in_two_ranges_are_two_rules_and_go_with_their_service) {
  put_rule("blue", "203.0.113.0/24", 100);
  put_rule("green", "198.51.100.0/24", 101);
  kubectl({"patch", "iprule", "green", "--type=merge", "-p", R"({"spec":{"priority":2000}})"});
  const std::string source = put_service("web", "203.0.113.5");
  kubectl({"patch", "service", "web", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.5"},{"ip":"198.51.100.5"}]}}})"});
  EXPECT_TRUE(has_exactly(source, fmt::format("1000:\tfrom {0} lookup 100 proto 183\n"
                                              "2000:\tfrom {0} lookup 101 proto 183\n",
                                              source)))
      << rules(*worker_);
  EXPECT_EQ(published(), source + " " + source);
  delete_service("web");
  EXPECT_TRUE(has_exactly(source, "")) << rules(*worker_);
  EXPECT_TRUE(eventually("nothing is published", kBound, [&] { return published().empty(); })) << published();
}

// The old rule is still there, for the agent is away, when another Service gets the address.
TEST_F(ReplacedRules, D12_an_address_used_again_during_cleanup_ends_with_the_rule_of_its_new_service) {
  put_rule("blue", "203.0.113.0/24", 100);
  put_rule("green", "198.51.100.0/24", 101);
  const std::string source = put_service("old", "203.0.113.5");
  ASSERT_TRUE(appears(*worker_, source));
  worker_->agent->kill();
  delete_service("old");
  ASSERT_TRUE(eventually("withdrawn", kBound, [&] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].spec.state}"}) == "absent";
  }));
  kubectl({"create", "-f", "-"},
          fmt::format("apiVersion: v1\nkind: Service\nmetadata: {{name: new, namespace: default}}\n"
                      "spec: {{type: LoadBalancer, clusterIP: {}, ports: [{{port: 80}}]}}\n",
                      source));
  ASSERT_EQ(put_service("new", "198.51.100.5"), source);
  ASSERT_TRUE(eventually("published beside it", kBound, [&] { return published() == source + " " + source; }));
  ASSERT_EQ(rules_from(source), fmt::format("1000:\tfrom {} lookup 100 proto 183\n", source));
  start_container(*worker_);
  EXPECT_TRUE(has_exactly(source, fmt::format("1000:\tfrom {} lookup 101 proto 183\n", source))) << rules(*worker_);
  EXPECT_TRUE(eventually("the old object is gone", kBound, [&] { return published() == source; })) << published();
}

}  // namespace
}  // namespace cluster_test
