#pragma once

#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.h"
#include "controller/cluster_script.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "testbed/process.h"

namespace controller_test {

using api_test::kBound;
using testbed::CallMatch;
using testbed::eventually;
using testbed::FaultProxy;

// The controller's process, with faults between it and the API server; the test is everybody else.
class ControllerBehindProxy : public testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure() && controller_) fmt::print(stderr, "--- controller\n{}\n", controller_->output());
  }

  void start() {
    controller_.emplace(api_test::must(
        testbed::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", proxy_.kubeconfig().native(),
                                               "--health-probe-bind-address=0", "--absent-delay=0s"}})));
  }
  static testing::AssertionResult becomes(const std::string& what, const std::function<bool()>& check) {
    return eventually(what, kBound, check);
  }

  void put_rule(int table, const std::string& more = {}) {
    script_.put_rule("blue",
                     fmt::format(R"({{"cidrs":["203.0.113.0/24"],"table":{},"priority":1500{}}})", table, more));
  }
  void put_services(int from, int to) {
    for (int i = from; i <= to; ++i) script_.put_service(fmt::format("web-{}", i), fmt::format("203.0.113.{}", i));
  }
  // As many objects as wanted, all of them present and for this table.
  bool are_published(std::size_t count, std::uint32_t table) {
    std::size_t right = 0;
    for (const api::IPRuleConfig& config : script_.configs()) {
      if (config.spec.table == table && config.spec.state == api::ConfigState::present) ++right;
    }
    return right == count;
  }
  bool is_programmed() { return script_.condition("blue", "Programmed") == "True AllNodes"; }

  ClusterScript script_;
  FaultProxy proxy_{admin_config().server, api_test::must(admin_config().tls())};
  std::optional<testbed::Process> controller_;

 private:
  static kube::Config admin_config() {
    return api_test::must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }
};

}  // namespace controller_test
