// The service rules of the controller on a real API server: what it publishes, when it lets go, and what it says.
#include "controller/service_rules.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.h"
#include "controller/cluster_script.h"
#include "kube/controller.h"
#include "runtime/health.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"

namespace controller_test {
namespace {

using namespace std::chrono_literals;
using api::ConfigState;
using api_test::kBound;
using testbed::eventually;
using testbed::FaultProxy;

// The job on a thread of its own, as the process runs it.
class RunningJob {
 public:
  RunningJob(std::unique_ptr<kube::Client> client, controller::ServiceRulesOptions options)
      : client_(std::move(client)),
        job_(*client_, *client_, with_figures(std::move(options))),
        thread_([this](std::stop_token stop) {
          while (!stop.stop_requested()) {
            const auto next = job_.reconcile(stop);
            const base::Duration wait = next ? next->delay() : base::Duration(50ms);
            (void)job_.changed().wait(stop, base::SteadyClock().now() + wait);
          }
        }) {}

  std::size_t most_created() const { return most_created_; }  // By one pass.
  std::string trouble() const { return job_.trouble().value_or(""); }

 private:
  controller::ServiceRulesOptions with_figures(controller::ServiceRulesOptions options) {
    options.ns = "operator";
    options.figures = [this](const controller::ServiceRulesFigures& figures) {
      most_created_ = std::max<std::size_t>(most_created_, figures.created);
    };
    return options;
  }

  std::unique_ptr<kube::Client> client_;
  std::atomic<std::size_t> most_created_ = 0;
  controller::ServiceRules job_;
  std::jthread thread_;
};

class ServiceRulesTest : public testing::Test {
 protected:
  static kube::Config admin_config() {
    return api_test::must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }
  void start(controller::ServiceRulesOptions options = {.absent_delay = 0ms}) {
    job_ = std::make_unique<RunningJob>(api_test::connect(proxy_.kubeconfig()), std::move(options));
  }
  testing::AssertionResult becomes(const std::string& what, const std::function<bool()>& check) {
    return eventually(what, kBound, check);
  }
  bool has_state(const std::string& node) {
    return std::ranges::any_of(script_.states(), [&](const auto& state) { return state.meta.name == node; });
  }
  // Two nodes, one rule, one Service that both nodes hold.
  void settle_one() {
    script_.add_agent();
    script_.add_node("n1");
    script_.add_node("n2");
    script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120,"priority":1500})");
    script_.put_service("web", "203.0.113.5");
    start();
    ASSERT_TRUE(becomes("reports and config", [&] { return has_state("n1") && has_state("n2") && !name().empty(); }));
    script_.report_all();
    ASSERT_TRUE(becomes("programmed", [&] { return script_.condition("blue", "Programmed") == "True AllNodes"; }));
  }
  // One rule and one Service on one node that has a second to answer.
  void publish_for(const std::string& node, ClusterScript::AgentKind kind = ClusterScript::AgentKind::ours) {
    script_.add_agent(R"({"absentTimeout":"1s"})");
    script_.add_node(node, kind);
    script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
    script_.put_service("web", "203.0.113.5");
    start();
    ASSERT_TRUE(becomes("published", [&] { return has_state(node) && !name().empty(); }));
  }
  void expect_given_up(const std::string& node) {
    script_.delete_service("web");
    EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
    EXPECT_TRUE(becomes("an event names it", [&] {
      const std::string events = script_.events();
      return events.contains("CleanupTimeout") && events.contains("not waited for any longer: " + node);
    }));
  }
  std::string name() {
    const auto configs = script_.configs();
    return configs.size() == 1 ? configs.front().meta.name : "";
  }
  bool is_absent() {
    const auto configs = script_.configs();
    return configs.size() == 1 && configs.front().spec.state == ConfigState::absent;
  }
  int writes_of(const std::string& name) {
    int out = 0;
    for (const auto* verb : {"create", "update", "patch", "delete"}) out += proxy_.calls({.verb = verb, .name = name});
    return out;
  }

  ClusterScript script_;
  FaultProxy proxy_{admin_config().server, api_test::must(admin_config().tls())};
  std::unique_ptr<RunningJob> job_;
};

// A node that comes or goes changes the reports of all others, a thousand perhaps.
TEST_F(ServiceRulesTest, orders_to_nodes_do_not_queue_behind_what_all_are_told_of_a_new_node) {
  settle_one();
  job_.reset();
  api_test::must(
      testbed::shared_cluster().kubectl({"patch", "node", "n1", "--subresource=status", "--type=merge", "-p",
                                         R"({"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.1"}]}})"}));
  script_.put_service("more", "203.0.113.6");
  const testbed::CallMatch creates{.verb = "create", .resource = "ipruleconfigs"};
  const testbed::CallMatch updates{.verb = "update", .resource = "nodestates"};
  const int before = proxy_.calls(updates);
  proxy_.inject(creates, testbed::fault::Hold{}, {.count = 1});
  const int creates_before = proxy_.calls(creates);
  start();
  ASSERT_TRUE(becomes("the order is given", [&] { return proxy_.calls(creates) > creates_before; }));
  EXPECT_EQ(proxy_.calls(updates), before);
  proxy_.release();
  EXPECT_TRUE(becomes("and then they are told", [&] {
    return std::ranges::all_of(script_.states(), [](const api::NodeState& state) {
      return std::ranges::find(state.spec.cluster_prefixes, "192.0.2.1/32") != state.spec.cluster_prefixes.end();
    });
  }));
}

TEST_F(ServiceRulesTest, a_node_whose_report_is_refused_keeps_no_prefix_from_the_others) {
  settle_one();
  proxy_.inject({.verb = "update", .resource = "nodestates", .name = "n1"},
                testbed::fault::Answer{.status = 403, .body = R"({"kind":"Status","code":403,"message":"no"})"},
                {.count = FaultProxy::kAlways});
  api_test::must(
      testbed::shared_cluster().kubectl({"patch", "node", "n1", "--subresource=status", "--type=merge", "-p",
                                         R"({"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.1"}]}})"}));
  EXPECT_TRUE(becomes("the other is told", [&] {
    return std::ranges::any_of(script_.states(), [](const api::NodeState& state) {
      const auto& prefixes = state.spec.cluster_prefixes;
      return state.meta.name == "n2" && std::ranges::find(prefixes, "192.0.2.1/32") != prefixes.end();
    });
  }));
}

TEST_F(ServiceRulesTest, S11_an_object_goes_when_the_last_node_has_let_go) {
  settle_one();
  // Statuses come at a pace of their own: a Service that goes at once would leave this one untold.
  EXPECT_TRUE(becomes("it is told", [&] { return script_.events().contains("RuleProgrammed"); }));
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn", [&] { return is_absent(); }));
  script_.report("n1");
  ASSERT_TRUE(becomes("n2 is named", [&] {
    const auto configs = script_.configs();
    const auto* cleaned = configs.empty() ? nullptr : meta::find(configs.front().status.conditions, "CleanedUp");
    return cleaned != nullptr && cleaned->message.contains("waiting for: n2");
  }));
  EXPECT_TRUE(becomes("cleaning", [&] { return script_.condition("blue", "Programmed") == "False CleaningUp"; }));
  script_.report("n2");
  EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
  EXPECT_TRUE(becomes("no match", [&] { return script_.condition("blue", "Programmed") == "False NoMatch"; }));
  EXPECT_TRUE(becomes("events", [&] { return script_.events().contains("MarkedAbsent"); }));
}

TEST_F(ServiceRulesTest, D17_an_acknowledgement_of_an_earlier_life_does_not_count) {
  settle_one();
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn", [&] { return is_absent(); }));
  const std::string first = script_.configs().front().meta.uid;
  script_.report("n1");
  const std::string address = script_.configs().front().spec.service_ip;
  // The same address comes back, so the object does; and it goes again.
  api_test::must(script_.client().create({"", "v1", "services", true}, "default",
                                         R"({"metadata":{"name":"web"},"spec":{"type":"LoadBalancer","clusterIP":")" +
                                             address + R"(","ports":[{"port":80}]}})",
                                         api_test::soon()));
  script_.put_service("web", "203.0.113.5");
  ASSERT_TRUE(becomes("offered again", [&] { return !is_absent(); }));
  EXPECT_EQ(script_.configs().front().meta.uid, first);
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn again", [&] { return is_absent(); }));
  script_.report("n2");
  ASSERT_TRUE(becomes("n1 is waited for", [&] {
    const auto configs = script_.configs();
    const auto* cleaned = configs.empty() ? nullptr : meta::find(configs.front().status.conditions, "CleanedUp");
    return cleaned != nullptr && cleaned->message.contains("waiting for: n1");
  }));
  script_.report("n1");
  EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
}

TEST_F(ServiceRulesTest, D19_a_silent_node_is_given_up_with_an_event) {
  publish_for("n1");
  expect_given_up("n1");
}

TEST_F(ServiceRulesTest, D19_a_silent_node_with_an_agent_of_the_old_project_is_given_up_with_an_event) {
  publish_for("silent-old", ClusterScript::AgentKind::old);
  expect_given_up("silent-old");
}

// Old agents put the whole name of the node into the key, of which the API server takes 63 characters.
TEST_F(ServiceRulesTest, D23_a_node_whose_old_agent_cannot_answer_for_its_long_name_is_given_up_with_an_event) {
  const std::string node = "old-" + std::string(54, 'a') + ".example.org";
  publish_for(node, ClusterScript::AgentKind::old);
  try {
    script_.acknowledge_as_old_agent(name(), node);
    ADD_FAILURE() << "the API server takes such a key";
  } catch (const std::runtime_error& refused) {
    EXPECT_TRUE(std::string_view(refused.what()).contains("no more than 63")) << refused.what();
  }
  expect_given_up(node);
}

// The second change comes while the first has only just been told, and nothing happens afterwards.
TEST_F(ServiceRulesTest, L9_a_status_that_had_to_wait_is_written_without_another_change) {
  settle_one();
  const auto failing = [&](const std::string& nodes) {
    return becomes("failing on " + nodes, [&] {
      const auto found = script_.rule("blue");
      const auto* programmed = meta::find(found.status.conditions, "Programmed");
      return programmed != nullptr && programmed->message.contains("not on: " + nodes);
    });
  };
  script_.report_failure("n1", name());
  ASSERT_TRUE(failing("n1 (RuleAddFailed: ENOBUFS)"));
  script_.report_failure("n2", name());
  EXPECT_TRUE(failing("n1 (RuleAddFailed: ENOBUFS), n2 (RuleAddFailed: ENOBUFS)"));
}

TEST_F(ServiceRulesTest, E1_a_node_that_is_deleted_is_not_waited_for) {
  settle_one();
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn", [&] { return is_absent(); }));
  script_.report("n1");
  script_.delete_node("n2");
  EXPECT_TRUE(becomes("its report goes", [&] { return !has_state("n2"); }));
  EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
}

TEST_F(ServiceRulesTest, D23_a_long_node_name_settles_with_one_write) {
  const std::string node = std::string(60, 'a') + ".example.org";
  script_.add_agent();
  script_.add_node(node);
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  script_.put_service("web", "203.0.113.5");
  start();
  ASSERT_TRUE(becomes("published", [&] { return has_state(node) && !name().empty(); }));
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn", [&] { return is_absent(); }));
  script_.report(node);
  EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
}

TEST_F(ServiceRulesTest, a_report_that_states_what_was_never_given_out_gets_a_new_token) {
  settle_one();
  const auto token = [&] { return script_.states().front().spec.token; };
  const std::string before = token();
  script_.report_epoch("n1", 1'000'000'000);
  EXPECT_TRUE(becomes("a new token", [&] { return token() != before; }));
  const auto states = script_.states();
  EXPECT_EQ(states.back().meta.name, "n2");
  EXPECT_EQ(states.back().spec.token, states.back().status.token) << "the other is still believed";
}

TEST_F(ServiceRulesTest, D17_an_agent_of_the_old_project_answers_by_annotation) {
  script_.add_agent();
  script_.add_node("old", ClusterScript::AgentKind::old);
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  script_.put_service("web", "203.0.113.5");
  start();
  ASSERT_TRUE(becomes("published", [&] { return has_state("old") && !name().empty(); }));
  EXPECT_TRUE(becomes("said so", [&] { return script_.condition("blue", "Programmed") == "Unknown OldAgents"; }));
  script_.acknowledge_as_old_agent(name(), "old");  // Of an earlier life: stripped.
  ASSERT_TRUE(becomes("stripped", [&] {
    return !script_.configs().front().meta.annotations.contains("cleanup.iprule.agent.brtrm.dev/old");
  }));
  script_.delete_service("web");
  ASSERT_TRUE(becomes("withdrawn", [&] { return is_absent(); }));
  script_.acknowledge_as_old_agent(name(), "old");
  EXPECT_TRUE(becomes("gone", [&] { return script_.configs().empty(); }));
}

TEST_F(ServiceRulesTest, D6_edits_by_hand_are_repaired_with_an_event) {
  settle_one();
  const std::string config = name();
  script_.patch_config(config, R"({"spec":{"state":"absent"}})");
  ASSERT_TRUE(becomes("present again", [&] { return !is_absent(); }));
  EXPECT_TRUE(becomes("an event", [&] { return script_.events().contains("DriftRepaired"); }));
  script_.patch_config(config, R"({"metadata":{"annotations":{"iprule.operator.brtrm.dev/spec-hash":"x"}}})");
  EXPECT_TRUE(becomes("hash repaired", [&] {
    const auto found = script_.config(config);
    return found && found->meta.annotations.get(api::kSpecHash) == api::spec_hash(found->spec);
  }));
  api_test::must(script_.client().remove({std::string(api::kGroup), "v1alpha1", "ipruleconfigs", false}, {"", config},
                                         {}, api_test::soon()));
  EXPECT_TRUE(becomes("made again", [&] { return name() == config; }));
}

TEST_F(ServiceRulesTest, D30_what_a_node_reports_becomes_an_event_on_its_report) {
  settle_one();
  script_.report_condition(
      "n1", R"({"type":"Drifting","status":"True","reason":"RepeatedRepairs","lastTransitionTime":)"
            R"("2026-01-31T10:00:00Z","message":"set ManageForeignRoutingPolicyRules=no in networkd.conf"})");
  EXPECT_TRUE(becomes("the cause is told", [&] {
    const std::string events = script_.events();
    return events.contains("DriftRepeating") && events.contains("n1: set ManageForeignRoutingPolicyRules=no") &&
           events.contains(R"("related":{"kind":"Node","name":"n1")");
  }));
  script_.report_condition("n1", R"({"type":"Drifting","status":"False","reason":"NoDrift","message":"nobody",)"
                                 R"("lastTransitionTime":"2026-01-31T10:01:00Z"})");
  EXPECT_TRUE(becomes("its end is told", [&] { return script_.events().contains(R"("reason":"DriftRepaired")"); }));
}

TEST_F(ServiceRulesTest, A11_a_right_that_is_taken_away_is_told_and_nothing_is_withdrawn) {
  settle_one();
  EXPECT_EQ(job_->trouble(), "");
  for (const auto* verb : {"list", "watch"}) {
    proxy_.inject({.verb = verb, .resource = "services"},
                  testbed::fault::Answer{.status = 403,
                                         .body = R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})"},
                  {.count = FaultProxy::kAlways});
  }
  proxy_.cut_all();
  EXPECT_TRUE(becomes("it is known", [&] {
    const std::string trouble = job_->trouble();
    return trouble.contains("services: nothing new comes") && trouble.contains("403");
  }));
  EXPECT_TRUE(becomes("it is told", [&] {
    const std::string events = script_.events();
    return events.contains("NoAccess") && events.contains("apply the install manifests again");
  }));
  EXPECT_FALSE(is_absent());
  proxy_.heal();
  EXPECT_TRUE(becomes("all is well again", [&] { return job_->trouble().empty(); }));
}

TEST_F(ServiceRulesTest, a_pass_that_changed_something_is_one_line_in_the_log) {
  testing::internal::CaptureStderr();
  settle_one();
  job_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log.contains(R"("desired":1,"created":1,"updated":0,"unchanged":0,"newlyAbsent":0,"absentTotal":0)"))
      << log;
  EXPECT_FALSE(log.contains(R"("wrote")")) << "each object's line is for debugging";
}

TEST_F(ServiceRulesTest, D10_one_failing_object_stops_nobody) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  proxy_.inject({.verb = "create", .resource = "ipruleconfigs"},
                testbed::fault::Answer{.status = 500, .body = R"({"kind":"Status","code":500,"message":"no"})"});
  for (int i = 1; i <= 5; ++i) script_.put_service("web-" + std::to_string(i), "203.0.113." + std::to_string(i));
  start();
  EXPECT_TRUE(becomes("all five", [&] { return script_.configs().size() == 5; }));
  EXPECT_EQ(proxy_.calls({.verb = "create", .resource = "ipruleconfigs"}), 6);

  // And one that fails for good, the first of all in order.
  const std::string failing = script_.configs().front().meta.name;
  proxy_.inject({.verb = "update", .resource = "ipruleconfigs", .name = failing},
                testbed::fault::Answer{.status = 500, .body = R"({"kind":"Status","code":500,"message":"no"})"},
                {.count = FaultProxy::kAlways});
  for (const auto& config : script_.configs()) {
    script_.patch_config(config.meta.name,
                         R"({"metadata":{"annotations":{"iprule.operator.brtrm.dev/spec-hash":"x"}}})");
  }
  EXPECT_TRUE(becomes("all others are repaired", [&] {
    const auto configs = script_.configs();
    return std::ranges::count(configs, "x", [](const auto& one) { return one.meta.annotations.get(api::kSpecHash); }) ==
           1;
  }));
  EXPECT_EQ(script_.config(failing)->meta.annotations.get(api::kSpecHash), "x");
}

// Changes that come close together are looked at together. That is no success: the queue would start its back-off anew,
// and a write that fails for good would be tried twenty times a second.
TEST_F(ServiceRulesTest, B5_while_a_write_fails_no_pass_looks_like_a_success) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  script_.put_service("web", "203.0.113.5");
  proxy_.inject({.verb = "create", .resource = "ipruleconfigs"},
                testbed::fault::Answer{.status = 500, .body = R"({"kind":"Status","code":500,"message":"no"})"},
                {.count = FaultProxy::kAlways});
  const auto client = api_test::connect(proxy_.kubeconfig());
  controller::ServiceRules job(*client, *client, {.ns = "operator", .absent_delay = 0ms});
  int failed = 0;
  int put_off = 0;
  EXPECT_TRUE(becomes("both have been seen", [&] {
    const auto next = job.reconcile({});
    if (!next) return false;
    const bool has_failed = next->when() == kube::Next::When::failed;
    failed += has_failed ? 1 : 0;
    put_off += has_failed ? 0 : 1;
    EXPECT_TRUE(has_failed || next->when() == kube::Next::When::put_off);
    EXPECT_TRUE(!has_failed || next->delay() >= 1s) << "nor does what is due bring it back sooner";
    return failed >= 3 && put_off >= 3;
  }));
}

// Each write takes longer than a pass goes on writing: so every pass does one of them, and there is another.
TEST_F(ServiceRulesTest, a_pass_ends_in_time_when_the_server_hardly_answers) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  for (int i = 1; i <= 3; ++i) script_.put_service("web-" + std::to_string(i), "203.0.113." + std::to_string(i));
  proxy_.inject({.verb = "create", .resource = "ipruleconfigs"}, testbed::fault::Delay{.time = 300ms},
                {.count = FaultProxy::kAlways});
  start({.absent_delay = 0ms, .writing_time = 100ms});
  EXPECT_TRUE(becomes("all three", [&] { return script_.configs().size() == 3; }));
  EXPECT_EQ(job_->most_created(), 1U);
}

// For many times the span after which a pass is taken for stuck. All spans are a sixtieth of what they are in a
// cluster.
TEST_F(ServiceRulesTest, a_server_that_takes_writes_and_never_answers_makes_no_pass_look_stuck) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  for (int i = 1; i <= 3; ++i) script_.put_service("web-" + std::to_string(i), "203.0.113." + std::to_string(i));
  for (const auto* verb : {"create", "update", "patch"}) {
    proxy_.inject({.verb = verb}, testbed::fault::Drop{}, {.count = FaultProxy::kAlways});
  }
  const auto client = api_test::connect(proxy_.kubeconfig());
  controller::ServiceRules job(*client, *client,
                               {.ns = "operator", .absent_delay = 0ms, .writing_time = 333ms, .request_time = 500ms});
  std::atomic<int> failed = 0;
  kube::Controller loop(
      {.name = "test", .stuck_after = 2s},
      [&](const kube::WorkKey&, std::stop_token stop) { return job.reconcile(std::move(stop)); },
      [&](const kube::Pass& pass) { failed += pass.outcome == kube::Outcome::error ? 1 : 0; });
  runtime::Health health;
  loop.add_to(health);
  const std::jthread feeder([&](std::stop_token stop) {
    do {
      loop.queue().add("everything");
    } while (job.changed().wait(stop));
  });
  const std::jthread worker([&](std::stop_token stop) { loop.run(std::move(stop)); });
  std::string trouble;
  EXPECT_TRUE(eventually("eight passes have failed", kBound, [&] {
    if (const auto report = health.report(); !report.well) trouble = report.text;
    return failed >= 8;
  }));
  EXPECT_EQ(trouble, "");
}

TEST_F(ServiceRulesTest, D15_many_policies_and_services_are_looked_at_together) {
  constexpr int kRules = 30;
  for (int i = 1; i <= kRules; ++i) {
    const std::string n = std::to_string(i);
    script_.put_rule("rule-" + n, R"({"cidrs":["198.51.100.)" + n + R"(/32"],"table":)" + n + "}");
  }
  for (int i = 1; i <= 5; ++i) {
    script_.put_service("web-" + std::to_string(i), "198.51.100." + std::to_string(i));
  }
  start();
  ASSERT_TRUE(becomes("all five", [&] { return script_.configs().size() == 5; }));
  EXPECT_TRUE(becomes("by one pass", [&] { return job_->most_created() == 5; }));
  EXPECT_EQ(proxy_.calls({.verb = "create", .resource = "ipruleconfigs"}), 5);
}

TEST_F(ServiceRulesTest, D14_an_invalid_policy_says_so_and_its_siblings_work_on) {
  script_.put_rule("typo", R"({"cidr":"192.168.1.10","table":121})");
  settle_one();
  EXPECT_TRUE(becomes("said", [&] { return script_.condition("typo", "Accepted") == "False InvalidCIDR"; }));
  EXPECT_TRUE(becomes("an event", [&] { return script_.events().contains("InvalidSpec"); }));
}

TEST_F(ServiceRulesTest, D16_an_address_that_comes_back_within_the_delay_changes_nothing) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120})");
  script_.put_service("web", "203.0.113.5");
  start({.absent_delay = 30min});
  ASSERT_TRUE(becomes("published", [&] { return !name().empty(); }));
  script_.put_service("web", "192.0.2.1");
  ASSERT_TRUE(becomes("noticed", [&] { return script_.rule("blue").status.matched_vips == 0; }));
  EXPECT_FALSE(is_absent());
  script_.put_service("web", "203.0.113.5");
  ASSERT_TRUE(becomes("noticed", [&] { return script_.rule("blue").status.matched_vips == 1; }));
  EXPECT_EQ(proxy_.calls({.verb = "update", .resource = "ipruleconfigs"}), 0);
}

TEST_F(ServiceRulesTest, S19_when_all_is_right_nothing_is_written) {
  settle_one();
  ASSERT_TRUE(becomes("events are out", [&] { return script_.events().contains("RuleProgrammed"); }));
  const std::vector<std::string> settled = {"blue", "n1", "n2", script_.configs().front().meta.name};
  std::vector<int> before;
  for (const auto& name : settled) before.push_back(writes_of(name));
  // A change that matters to another Service only; when it is done, everything has been looked at again.
  script_.put_service("other", "192.0.2.7");
  script_.put_rule("green", R"({"cidrs":["192.0.2.0/24"],"table":7})");
  ASSERT_TRUE(becomes("the other is there", [&] { return script_.configs().size() == 2; }));
  for (std::size_t i = 0; i < settled.size(); ++i) EXPECT_EQ(writes_of(settled[i]), before[i]) << settled[i];
}

// The NodeState of an install that does not know yet how many nodes there are.
class OldNodeStates : public ServiceRulesTest {
 protected:
  void SetUp() override {
    kubectl({"patch", "crd", "nodestates.api.operator.brtrm.dev", "--type=json", "-p",
             R"([{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/nodes"}])"});
    ASSERT_TRUE(becomes("old", [&] { return !knows_nodes(); }));
  }
  void TearDown() override {
    kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"});
    ASSERT_TRUE(becomes("new", [&] { return knows_nodes(); }));
  }

  static std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    return api_test::must(testbed::shared_cluster().kubectl(std::move(arguments), std::move(input)));
  }
  static bool knows_nodes() {
    return kubectl({"create", "--dry-run=server", "--validate=false", "-f", "-", "-o", "jsonpath={.spec.nodes}"},
                   fmt::format(R"({{"apiVersion":"{}","kind":"NodeState","metadata":{{"name":"x"}},)"
                               R"("spec":{{"nodes":5}}}})",
                               api::kApiVersion)) == "5";
  }
};

TEST_F(OldNodeStates, S19_what_they_leave_out_is_not_written_with_every_pass) {
  settle_one();
  const auto updates_after = [&](const std::string& service, const std::string& vip, std::size_t configs) {
    script_.put_service(service, vip);
    EXPECT_TRUE(becomes("another pass", [&] { return script_.configs().size() == configs; }));
    return proxy_.calls({.verb = "update", .resource = "nodestates"});
  };
  const int tried = updates_after("a", "203.0.113.10", 2);
  EXPECT_GE(tried, 2) << "each node's once";
  EXPECT_EQ(updates_after("b", "203.0.113.11", 3), tried);
  EXPECT_EQ(updates_after("c", "203.0.113.12", 4), tried);
}

}  // namespace
}  // namespace controller_test
