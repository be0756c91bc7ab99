// The controller as a process in a cluster: who leads, what probes say, who may read metrics.
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/file.h"
#include "install.h"
#include "lab/kubernetes/pki.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "testbed/relay.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using install::Controller;
using install::kubectl;
using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBound = 60s;
constexpr std::string_view kTokenStart = "eyJ";  // Of every token of an account: base64 of `{"`.
const std::string kLeads = "leader_election_master_status{name=\"fed43742.brtrm.dev\"}";

// A rule and a Service inside it; the controller that works publishes one object for them.
void publish(const std::string& name, int number) {
  kubectl({"apply", "-f", "-"}, fmt::format(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: {0}}}
spec: {{cidrs: [203.0.113.{1}/32], table: 100, priority: 1000}}
---
apiVersion: v1
kind: Service
metadata: {{name: {0}, namespace: default}}
spec: {{type: LoadBalancer, ports: [{{port: 80}}]}}
)",
                                            name, number));
  kubectl({"patch", "service", name, "--subresource=status", "--type=merge", "-p",
           fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"203.0.113.{}"}}]}}}}}})", number)});
}

testing::AssertionResult is_published(const std::string& name) {
  const std::string address = kubectl({"get", "service", name, "-o", "jsonpath={.spec.clusterIP}"});
  return eventually(name + " is published", kBound, [&] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].spec.serviceIP}"}).contains(address);
  });
}

class TwoControllers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(eventually("one leads", kBound, [&] { return leads(first_) || leads(second_); }));
    if (leads(second_)) std::swap(first_, second_);
    ASSERT_TRUE(eventually("the other is ready", kBound, [&] { return second_.probe("/readyz").status == 200; }));
    EXPECT_FALSE(leads(second_));
  }
  void TearDown() override {
    kubectl({"delete", "iprules", "--all"});
    kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
    if (!HasFailure()) return;
    fmt::print(stderr, "--- first\n{}\n--- second\n{}\n", first_.process.output() + first_.process.errors(),
               second_.process.output() + second_.process.errors());
  }

  static bool leads(const Controller& controller) { return controller.metric(kLeads) == 1; }

  Controller first_ = install::start_controller({"--leader-elect"});
  Controller second_ = install::start_controller({"--leader-elect"});
};

TEST_F(TwoControllers, D53_a_stopped_leader_hands_over_at_once_and_the_other_goes_on) {
  publish("before", 1);
  ASSERT_TRUE(is_published("before"));
  const auto start = base::SteadyClock().now();
  first_.process.signal(SIGTERM);
  ASSERT_TRUE(eventually("the other leads", 10s, [&] { return leads(second_); }))
      << "2 s, five times on a busy machine";
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(base::SteadyClock().now() - start);
  fmt::print("hand-over after SIGTERM: {} ms\n", took.count());
  const auto ended = first_.process.wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_TRUE(ended->ok()) << ended->text();
  EXPECT_THAT(first_.process.output(), HasSubstr("lease released"));
  publish("after", 2);
  EXPECT_TRUE(is_published("after"));
}

TEST_F(TwoControllers, C1_a_leader_that_was_paused_ends_when_it_wakes_and_the_other_goes_on) {
  first_.process.signal(SIGSTOP);
  ASSERT_TRUE(eventually("the other leads", 100s, [&] { return leads(second_); }));
  publish("meanwhile", 3);
  ASSERT_TRUE(is_published("meanwhile"));
  const std::string before = kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].metadata.resourceVersion}"});
  first_.process.signal(SIGCONT);
  const auto ended = first_.process.wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(ended->code, 1) << ended->text();
  EXPECT_THAT(first_.process.output(), HasSubstr("lost"));
  EXPECT_EQ(kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].metadata.resourceVersion}"}), before)
      << "it wrote nothing";
  EXPECT_TRUE(leads(second_));
}

// What the next version's Deployment changes is the image of the agents. While both run, one of them leads.
TEST(Versions, B9_an_upgrade_and_its_roll_back_change_the_agents_once_each_and_nothing_else) {
  const auto start = [](const std::string& version) {
    return install::start_controller({"--leader-elect"}, {"RELATED_IMAGE_AGENT_IMAGE=example.test/agent:" + version});
  };
  const auto of_agents = [](const std::string& path) {
    return install::cluster()
        .kubectl({"get", "daemonset", "iprule-agent", "-n", install::kNamespace, "-o", "jsonpath=" + path})
        .value_or("");
  };
  const auto runs = [&](const std::string& version) {
    return eventually("the agents are of " + version, kBound, [&] {
      return of_agents("{.spec.template.spec.containers[0].image}") == "example.test/agent:" + version;
    });
  };
  const auto published = [] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*]['metadata.uid','metadata.generation']}"});
  };
  const auto is_ready = [](const Controller& controller) {
    return eventually("ready", kBound, [&] { return controller.probe("/readyz").status == 200; });
  };
  const auto replace = [&](Controller& one, Controller other) {
    ASSERT_TRUE(is_ready(other)) << other.process.output();
    one.process.signal(SIGTERM);
    ASSERT_TRUE(one.process.wait_exit(kBound));
    one = std::move(other);
  };

  Controller controller = start("v1");
  kubectl({"apply", "-f", "-"},
          "{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: Agent, metadata: {name: agent, "
          "namespace: " +
              install::kNamespace + "}}");
  publish("steady", 9);
  ASSERT_TRUE(runs("v1")) << controller.process.output();
  ASSERT_TRUE(is_published("steady"));
  const std::string hash = R"({.spec.template.metadata.annotations.iprule\.operator\.brtrm\.dev/template-hash})";
  const std::string before = published();
  const std::string first_hash = of_agents(hash);
  const int first = std::stoi(of_agents("{.metadata.generation}"));
  ASSERT_FALSE(first_hash.empty());

  replace(controller, start("v2"));
  ASSERT_TRUE(runs("v2")) << controller.process.output();
  EXPECT_EQ(of_agents("{.metadata.generation}"), std::to_string(first + 1));
  EXPECT_NE(of_agents(hash), first_hash);

  replace(controller, start("v1"));
  ASSERT_TRUE(runs("v1")) << controller.process.output();
  EXPECT_EQ(of_agents("{.metadata.generation}"), std::to_string(first + 2));
  EXPECT_EQ(of_agents(hash), first_hash);
  EXPECT_EQ(published(), before);
  EXPECT_EQ(of_agents("{.metadata.managedFields[?(@.operation==\"Apply\")].manager}"), "ip-rule-operator");
  kubectl({"delete", "agents", "--all", "-n", install::kNamespace});
  kubectl({"delete", "iprules", "--all"});
  kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
}

// Each generation of the old project had a name of its own for it.
TEST(Versions, R11_the_image_of_the_agents_is_what_the_newest_of_its_variables_says) {
  std::vector<std::string> variables = {"AGENT_IMAGE=example.test/agent:oldest",
                                        "RELATED_IMAGE_IPRULE_AGENT=example.test/agent:older",
                                        "RELATED_IMAGE_AGENT_IMAGE=example.test/agent:newest"};
  kubectl({"apply", "-f", "-"},
          "{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: Agent, metadata: {name: agent, "
          "namespace: " +
              install::kNamespace + "}}");
  for (; !variables.empty(); variables.pop_back()) {
    const std::string image = variables.back().substr(variables.back().find('=') + 1);
    const Controller controller = install::start_controller({}, variables);
    EXPECT_TRUE(eventually(image, kBound, [&] {
      const auto runs = install::cluster().kubectl({"get", "daemonset", "iprule-agent", "-n", install::kNamespace, "-o",
                                                    "jsonpath={.spec.template.spec.containers[0].image}"});
      return runs == image;
    })) << controller.process.output();
  }
  kubectl({"delete", "agents", "--all", "-n", install::kNamespace});
}

// The pause hits in the midst of a write, which reaches the server when another leads and has done the same work.
TEST(Leader, C1_a_write_under_way_when_its_leader_was_paused_changes_nothing) {
  const testbed::CallMatch creates{.verb = "create", .resource = "ipruleconfigs"};
  const auto authority = base::read_file(install::cluster().authority_file());
  ASSERT_TRUE(authority) << authority.error().message();
  testbed::FaultProxy proxy(http::Url::parse(install::cluster().url()).value(), {.ca = *authority});
  const auto manager = install::cluster().service_account(install::kNamespace, install::kManager);
  ASSERT_TRUE(manager) << manager.error().message();
  Controller first =
      install::start_controller({"--leader-elect", "--kubeconfig=" + proxy.kubeconfig(manager->token).native()});
  ASSERT_TRUE(eventually("it leads", kBound, [&] { return first.metric(kLeads) == 1; })) << first.process.output();
  Controller second = install::start_controller({"--leader-elect"});
  proxy.inject(creates, testbed::fault::Hold{}, {.count = testbed::FaultProxy::kAlways});
  publish("held", 4);
  ASSERT_TRUE(eventually("its write is under way", kBound, [&] { return proxy.calls(creates) > 0; }));
  first.process.signal(SIGSTOP);
  ASSERT_TRUE(eventually("the other leads", 100s, [&] { return second.metric(kLeads) == 1; }));
  ASSERT_TRUE(is_published("held"));

  const auto refused = [] {
    const std::string log = base::read_file(install::cluster().audit_log(), std::size_t{1} << 30U).value_or("");
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find(R"("reason":"AlreadyExists","details":{"name":")", at)) != log.npos; ++at) {
      ++count;
    }
    return count;
  };
  const auto objects = [] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*]['metadata.uid','metadata.generation']}"});
  };
  const std::size_t refused_before = refused();
  const std::string before = objects();
  proxy.release();
  EXPECT_TRUE(eventually("the late write is refused", kBound, [&] { return refused() > refused_before; }));
  first.process.signal(SIGCONT);
  const auto ended = first.process.wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_THAT(first.process.output(), HasSubstr("lost"));
  EXPECT_EQ(objects(), before);
  EXPECT_EQ(second.metric(kLeads), 1);
  kubectl({"delete", "iprules", "--all"});
  kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
}

TEST(Leader, C2_a_leader_that_cannot_renew_its_lease_ends) {
  const auto authority = base::read_file(install::cluster().authority_file());
  ASSERT_TRUE(authority) << authority.error().message();
  testbed::FaultProxy proxy(http::Url::parse(install::cluster().url()).value(), {.ca = *authority});
  const auto manager = install::cluster().service_account(install::kNamespace, install::kManager);
  ASSERT_TRUE(manager) << manager.error().message();
  Controller controller =
      install::start_controller({"--leader-elect", "--kubeconfig=" + proxy.kubeconfig(manager->token).native()});
  ASSERT_TRUE(eventually("it leads", kBound, [&] { return controller.metric(kLeads) == 1; }))
      << controller.process.output();
  // There is always something left to write: what is asked for is refused, and more comes.
  const testbed::CallMatch creates{.verb = "create", .resource = "ipruleconfigs"};
  proxy.inject(creates, testbed::fault::Answer{.status = 500, .body = "broken"},
               {.count = testbed::FaultProxy::kAlways});
  proxy.inject({.resource = "leases"}, testbed::fault::Drop{}, {.count = testbed::FaultProxy::kAlways});
  const auto deadline = base::SteadyClock().now() + 10s;  // Its last renewal was before.
  const auto on_the_way = deadline + 1s;
  std::optional<int> writes;
  for (int i = 0; controller.process.running() && base::SteadyClock().now() < deadline + kBound; ++i) {
    if (!writes && base::SteadyClock().now() > on_the_way) writes = proxy.calls(creates);
    publish(fmt::format("left-{}", i % 20), 20 + i % 20);
    if (i >= 20) kubectl({"delete", "service", fmt::format("left-{}", (i + 1) % 20)});
  }
  const auto ended = controller.process.wait_exit(kBound);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(ended->code, 1) << ended->text();
  EXPECT_THAT(controller.process.output(), HasSubstr("lost: not renewed for 10 s"));
  EXPECT_GT(proxy.calls(creates), 1);
  EXPECT_EQ(proxy.calls(creates), writes.value_or(proxy.calls(creates))) << "nothing is written after the deadline";
  kubectl({"delete", "iprules", "--all"});
  kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
}

// Its lease, its watches, what it orders, and what it tells people: the relay counts every connection that was ever
// made.
TEST(Connections, all_that_a_leading_controller_does_goes_over_one) {
  constexpr int kMany = 12;
  testbed::Relay relay(install::cluster().port());
  const auto manager = install::cluster().service_account(install::kNamespace, install::kManager);
  ASSERT_TRUE(manager) << manager.error().message();
  const std::string access =
      install::cluster().kubeconfig(*manager, fmt::format("https://127.0.0.1:{}", relay.port())).native();
  const Controller controller = install::start_controller({"--leader-elect", "--kubeconfig=" + access});
  ASSERT_TRUE(eventually("it leads", kBound, [&] { return controller.metric(kLeads) == 1; }))
      << controller.process.output();
  for (int i = 0; i < kMany; ++i) publish(fmt::format("one-of-many-{}", i), 100 + i);
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(is_published(fmt::format("one-of-many-{}", i)));
  kubectl({"apply", "-f", "-"},
          "{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: IPRule, metadata: {name: wrong},"
          " spec: {cidr: 192.168.1.10, table: 121}}");
  EXPECT_TRUE(eventually("an Event", kBound, [] {
    return kubectl({"get", "events", "-A", "--field-selector=reason=InvalidSpec"}).contains("wrong");
  }));
  const auto lease_version = [] {
    return kubectl({"get", "lease", "fed43742.brtrm.dev", "--namespace=" + install::kNamespace, "-o",
                    "jsonpath={.metadata.resourceVersion}"});
  };
  EXPECT_TRUE(
      eventually("the lease is renewed", kBound, [&, before = lease_version()] { return lease_version() != before; }));
  EXPECT_EQ(relay.accepted(), 1U);
  kubectl({"delete", "iprules", "--all"});
  kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
}

TEST(Probes, a_controller_without_rights_is_alive_but_not_ready_and_says_what_is_missing) {
  const Controller controller =
      install::start_controller({"--kubeconfig=" + install::kubeconfig("iprule-agent").native()});
  EXPECT_TRUE(eventually("not ready, with the reason", kBound, [&] {
    const auto answer = controller.probe("/readyz");
    return answer.status == 503 && answer.body.contains("iprules") && answer.body.contains("forbidden");
  })) << controller.probe("/readyz").body;
  EXPECT_EQ(controller.probe("/healthz").status, 200);
  EXPECT_EQ(controller.probe("/metrics").status, 404);
}

TEST(Probes, a_controller_whose_server_accepts_and_never_answers_is_alive_but_not_ready) {
  testbed::Relay relay(install::cluster().port());
  relay.freeze();
  const auto manager = install::cluster().service_account(install::kNamespace, install::kManager);
  ASSERT_TRUE(manager) << manager.error().message();
  const std::string access =
      install::cluster().kubeconfig(*manager, fmt::format("https://127.0.0.1:{}", relay.port())).native();
  const Controller controller = install::start_controller({"--kubeconfig=" + access});
  EXPECT_TRUE(eventually("trouble", kBound, [&] {
    const auto answer = controller.probe("/readyz");
    return answer.status == 503 && answer.body.contains("no connection in time");
  })) << controller.probe("/readyz").body;
  EXPECT_EQ(controller.probe("/healthz").status, 200) << controller.probe("/healthz").body;
  relay.thaw();
  EXPECT_TRUE(eventually("ready", kBound, [&] { return controller.probe("/readyz").status == 200; }))
      << controller.probe("/readyz").body;
}

// The real kubectl as the scraper: HTTPS to the controller, with a token and the authority to trust.
class SecureMetrics : public testing::Test {
 protected:
  void SetUp() override {
    (void)install::cluster();
    write_certificate(authority_);
    kubectl({"create", "serviceaccount", "scraper", "--namespace=" + install::kNamespace});
    kubectl({"create", "clusterrolebinding", "scraper", "--clusterrole=ip-rule-operator-metrics-reader",
             "--serviceaccount=" + install::kNamespace + ":scraper"});
    controller_.emplace(install::start_controller(
        {"--metrics-secure=true", "--metrics-cert-path=" + folder_.path().native(), "--zap-log-level=debug"}));
  }
  void TearDown() override {
    kubectl({"delete", "clusterrolebinding", "scraper"});
    kubectl({"delete", "serviceaccount", "scraper", "--namespace=" + install::kNamespace});
  }

  void write_certificate(const lab::Authority& authority) {
    const auto pair = authority.server("metrics", {"localhost"}, {net::Address::parse("127.0.0.1").value()});
    ASSERT_TRUE(base::write_file(folder_ / "tls.key.new", pair.key));
    ASSERT_TRUE(base::write_file(folder_ / "tls.crt.new", pair.pem));
    std::filesystem::rename(folder_ / "tls.key.new", folder_ / "tls.key");
    std::filesystem::rename(folder_ / "tls.crt.new", folder_ / "tls.crt");
  }

  // What it gets, or the complaint.
  std::string scrape(const std::string& token, const lab::Authority& trusted) {
    const auto file = folder_ / "scraper.kubeconfig";
    EXPECT_TRUE(base::write_file(
        file, fmt::format("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                          "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', "
                          "certificate-authority-data: {}}}}}]\n"
                          "users: [{{name: c, user: {{{}}}}}]\n"
                          "contexts: [{{name: c, context: {{cluster: c, user: c}}}}]\n",
                          controller_->metrics_port, lab::base64(trusted.certificate()), "token: " + token)));
    const auto output = install::cluster().kubectl({"get", "--raw", "/metrics"}, "", file);
    return output ? *output : output.error().message();
  }
  static std::string token_of(const std::string& account) {
    const auto credentials = install::cluster().service_account(install::kNamespace, account);
    EXPECT_TRUE(credentials) << credentials.error().message();
    return credentials ? credentials->token : "";
  }

  testbed::TempFolder folder_;
  lab::Authority authority_{"metrics"};
  std::optional<Controller> controller_;
};

TEST(ControllerLog, scripts_made_for_the_old_project_find_their_line) {
  Controller controller = install::start_controller({"--zap-encoder=console"});
  EXPECT_TRUE(eventually("the line", kBound, [&] {
    return controller.process.output().contains(
        "\tINFO\tcontroller\tcontroller-runtime.metrics\tServing metrics server");
  })) << controller.process.output();
}

TEST_F(SecureMetrics, J7_only_callers_with_the_right_get_them_and_a_new_certificate_counts_at_once) {
  const std::string scraper = token_of("scraper");
  ASSERT_TRUE(eventually("the scraper gets metrics", kBound, [&] {
    return scrape(scraper, authority_).contains("iprule_build_info");
  })) << scrape(scraper, authority_);
  const std::string text = scrape(scraper, authority_);
  for (const std::string name :
       {"controller_runtime_reconcile_total{controller=\"ipRule\"", "workqueue_depth{name=\"agent\"}",
        "rest_client_requests_total{code=\"200\"", "process_resident_memory_bytes", "iprule_desired_configs",
        "iprule_operator_desired_configs_total", "iprule_operator_agent_daemonset_desired",
        "iprule_operator_metrics_certificate_expiry_timestamp_seconds"}) {
    EXPECT_THAT(text, HasSubstr("\n" + name));
  }
  EXPECT_THAT(scrape(token_of("iprule-agent"), authority_), HasSubstr("orbidden"));
  EXPECT_THAT(scrape("nobody", authority_), HasSubstr("You must be logged in"));

  const lab::Authority next("next");
  write_certificate(next);
  EXPECT_THAT(scrape(scraper, next), HasSubstr("iprule_build_info"));
  EXPECT_THAT(scrape(scraper, authority_), HasSubstr("certificate"));
}

// Neither its own nor those of its callers, whom it asks the API server about.
TEST_F(SecureMetrics, S22_no_token_and_no_key_reaches_its_log_at_any_level) {
  const std::string scraper = token_of("scraper");
  ASSERT_TRUE(eventually("the scraper gets metrics", kBound,
                         [&] { return scrape(scraper, authority_).contains("iprule_build_info"); }));
  const std::string nobody = std::string(kTokenStart) + "nobody";
  EXPECT_THAT(scrape(nobody, authority_), HasSubstr("You must be logged in"));
  const auto log = [&] { return controller_->process.output() + controller_->process.errors(); };
  ASSERT_TRUE(eventually("both calls are logged", kBound, [&] {
    const std::string text = log();
    const auto first = text.find("/tokenreviews");
    return first != std::string::npos && text.find("/tokenreviews", first + 1) != std::string::npos;
  })) << log();
  ASSERT_TRUE(scraper.starts_with(kTokenStart));
  EXPECT_THAT(log(), Not(HasSubstr(std::string(kTokenStart))));
  std::istringstream key(base::read_file(folder_ / "tls.key").value());
  for (std::string line; std::getline(key, line);) EXPECT_THAT(log(), Not(HasSubstr(line)));
}

}  // namespace
