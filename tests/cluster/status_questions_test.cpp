// iprulectl over the objects of a cluster: status --nodes, watching and waiting, version.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "questions.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace questions {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST_F(Questions, every_node_has_a_row_chosen_sorted_and_named_as_kubectl_does_it) {
  const auto all = ask({"status", "--nodes"});
  EXPECT_EQ(all.exit.code, 0) << all.errors;
  EXPECT_THAT(all.output,
              HasSubstr("NODE      SYNC    DATAPLANE  RULES  SOURCES  SINCE  VERSION  PROBLEM\nworker-1  InSync"));
  EXPECT_THAT(all.output, HasSubstr("2 of 2 nodes in sync.\n"));
  EXPECT_THAT(all.output, Not(HasSubstr("KERNEL")));
  EXPECT_THAT(ask({"status", "--nodes", "-o", "wide"}).output, HasSubstr("KERNEL  PROXY\n"));
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name"}).output, "node/worker-1\nnode/worker-2\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "-l", "site=eu"}).output, "node/worker-1\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "--field-selector", "metadata.name!=worker-1"}).output,
            "node/worker-2\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "--sort-by", "{.name}"}).output, "node/worker-1\nnode/worker-2\n");
  const auto rows = ask({"status", "--nodes", "--no-headers", "--node", "worker-2"});
  EXPECT_THAT(rows.output, testing::StartsWith("worker-2  InSync"));
  EXPECT_EQ(std::ranges::count(rows.output, '\n'), 1);

  const auto none = ask({"status", "--nodes", "-l", "site=us"});
  EXPECT_EQ(none.exit.code, 2);
  EXPECT_EQ(none.errors, "iprulectl: -l, --field-selector: no node is selected\n");
  const auto unreadable = ask({"status", "--nodes", "-l", "site in (eu"});
  EXPECT_EQ(unreadable.exit.code, 2) << unreadable.errors;
  EXPECT_EQ(ask({"status", "--nodes", "--sort-by", ".synk"}).errors,
            "iprulectl: --sort-by: no row has a field \".synk\"; did you mean \"sync\"?\n");
  EXPECT_EQ(ask({"doctor", "-l", "site=eu", "--node", "worker-1"}).exit.code, 2) << "either names or a selector";
}

TEST_F(Questions, the_versions_of_all_that_runs_are_told) {
  const auto none = ask({"version"});
  EXPECT_EQ(none.exit.code, 0) << none.output << none.errors;
  EXPECT_THAT(none.output, HasSubstr("\niprule-controller  none is installed\n"));
  EXPECT_THAT(none.output, HasSubstr("\nKubernetes         v1."));
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: shop, labels: &l {app.kubernetes.io/name: ip-rule-operator, control-plane: controller-manager}}
spec: {selector: {matchLabels: *l}, template: {metadata: {labels: *l}, spec: {containers: [{name: manager, image: "x:5000/c:v9.9.0"}]}}}
)");
  const auto apart = ask({"version"});
  EXPECT_EQ(apart.exit.code, 1) << apart.errors;
  EXPECT_THAT(apart.output, HasSubstr("\niprule-controller  v9.9.0\n"));
  EXPECT_THAT(apart.output, HasSubstr("Skew not supported"));
  kubectl({"delete", "-n", "shop", "deployment", "controller"});
}

TEST_F(Questions, a_watch_prints_what_is_new_and_only_that) {
  auto watch = testbed::Process::start(
      {.arguments = {IPRULECTL, "status", "-w", "--kubeconfig", cluster().admin_kubeconfig().native()}});
  ASSERT_TRUE(watch) << watch.error().message();
  const auto seen = [&](std::string_view words) {
    return testbed::eventually(std::string(words), 60s, [&] { return watch->output().contains(words); });
  };
  ASSERT_TRUE(seen("0 IPRules,")) << watch->errors();
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  EXPECT_TRUE(seen("1 IPRule,")) << watch->errors();
  const std::string all = watch->output();
  EXPECT_EQ(all.find("0 IPRules,"), all.rfind("0 IPRules,")) << "what did not change is not told again";
}

TEST_F(Questions, whoever_waits_is_told_and_does_not_ask_again_and_again) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  const auto done = ask({"status", "--wait", "5s", "-v", "6"});
  EXPECT_EQ(done.exit.code, 4) << done.output;
  std::size_t requests = 0;
  for (auto at = done.errors.find("v1alpha1/nodestates"); at != std::string::npos;
       at = done.errors.find("v1alpha1/nodestates", at + 1)) {
    ++requests;
  }
  EXPECT_GE(requests, 1U);
  EXPECT_LE(requests, 3U) << "a list and a watch:\n" << done.errors;
}

TEST_F(Questions, whoever_waits_at_a_terminal_sees_how_far_it_is) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  const auto done = testbed::run({.arguments = {"script", "-qec",
                                                fmt::format("stty cols 60 && '{}' status --wait 10s --kubeconfig '{}'",
                                                            IPRULECTL, cluster().admin_kubeconfig().native()),
                                                "/dev/null"},
                                  .environment = {"SHELL=/bin/sh", "TERM=xterm"}},
                                 60s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_THAT(done->output, HasSubstr("\r[####################] nodes in sync 2/2\x1b[K"));
  EXPECT_THAT(done->output, HasSubstr("\r\x1b[K")) << "and nothing of it stays";
}

TEST_F(Questions, waiting_in_vain_has_a_code_of_its_own) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  EXPECT_EQ(ask({"status", "--wait", "1s"}).exit.code, 4);
}

}  // namespace
}  // namespace questions
