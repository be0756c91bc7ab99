// What the controller counts while the API server refuses to say what there is.
#include <string>

#include <gtest/gtest.h>

#include "api/api.h"
#include "controller/cluster_script.h"
#include "controller/config_metrics.h"
#include "controller/service_rules.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"

namespace controller_test {
namespace {

using namespace std::chrono_literals;
using api_test::must;
using testbed::FaultProxy;

class Gauges : public testing::Test {
 protected:
  static kube::Config admin_config() {
    return must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }

  // As the process joins them.
  controller::ServiceRulesOptions counted() {
    return {.ns = "operator", .absent_delay = 0ms, .figures = [this](const controller::ServiceRulesFigures& figures) {
              metrics_.passed(figures);
            }};
  }
  // One pass after another, as long as it takes.
  static testing::AssertionResult becomes(controller::ServiceRules& job, const std::string& what,
                                          const std::function<bool()>& fact) {
    return testbed::eventually(what, api_test::kBound, [&] {
      (void)job.reconcile({});
      return fact();
    });
  }
  bool say_one_and_one() const {
    const std::string text = registry_.text();
    return text.contains("\niprule_desired_configs 1\n") && text.contains("\niprule_absent_configs 1\n");
  }

  ClusterScript script_;
  FaultProxy proxy_{admin_config().server, must(admin_config().tls())};
  std::unique_ptr<kube::Client> client_ = api_test::connect(proxy_.kubeconfig());
  metrics::Registry registry_;
  const controller::ConfigMetrics metrics_{registry_};
};

TEST_F(Gauges, D47_lists_that_are_refused_leave_them_as_they_were) {
  script_.add_agent();
  script_.add_node("n1");  // It answers nothing, so what is withdrawn stays.
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  script_.put_service("web", "203.0.113.5");
  script_.put_service("other", "203.0.113.6");
  controller::ServiceRules job(*client_, *client_, counted());
  ASSERT_TRUE(becomes(job, "both are published", [&] { return script_.configs().size() == 2; }));
  script_.delete_service("other");
  ASSERT_TRUE(becomes(job, "one is withdrawn", [&] { return say_one_and_one(); }));

  for (const auto* verb : {"list", "watch"}) {
    proxy_.inject({.verb = verb},
                  testbed::fault::Answer{.status = 403,
                                         .body = R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})"},
                  {.count = FaultProxy::kAlways});
  }
  proxy_.cut_all();
  ASSERT_TRUE(becomes(job, "nothing more is told", [&] {
    const std::string trouble = job.trouble().value_or("");
    return trouble.contains("services: nothing new comes") && trouble.contains("ipruleconfigs: nothing new comes");
  }));
  int looks = 0;
  ASSERT_TRUE(becomes(job, "it has looked again and again", [&] { return ++looks > 10; }));
  EXPECT_TRUE(say_one_and_one()) << registry_.text();

  // Another leader of this process, who has seen nothing yet.
  controller::ServiceRules next(*client_, *client_, counted());
  ASSERT_TRUE(becomes(next, "it is refused, too", [&] { return next.waiting_for().value_or("").contains("403"); }));
  EXPECT_TRUE(say_one_and_one()) << registry_.text();
}

}  // namespace
}  // namespace controller_test
