#include "bench/inventory.h"

#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "api/iprule_config.h"
#include "api/kinds.h"
#include "bench/measure.h"
#include "bench/settled_cluster.h"
#include "testbed/http.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kRules = 50;
constexpr std::uint16_t kMetrics = 9090;
constexpr auto kPatience = 60s;

}  // namespace

base::Result<std::unique_ptr<Inventory>> Inventory::start() {
  std::unique_ptr<Inventory> out(new Inventory());
  out->stage_ = TRY(Stage::build());
  out->seed_ = std::make_unique<Seed>(out->stage_->cluster());
  TRY(out->stage_->create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}})"));
  TRY(out->stage_->create(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-1"}})"));
  TRY(out->stage_->create(
      R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"Agent","metadata":{"name":"agent","namespace":"default"}})"));
  return out;
}

base::Status Inventory::grow_to(std::uint32_t objects) {
  return seed_->put(settled_cluster(objects, kRules, 0));
}

base::Status Inventory::steer_by(std::string_view dataplane) {
  TRY(stage_->cluster().kubectl({"patch", "agents.api.operator.brtrm.dev", "agent", "--type=merge", "-p",
                                 fmt::format(R"({{"spec":{{"dataplane":"{}"}}}})", dataplane)}));
  return {};
}

base::Result<lab::Process*> Inventory::start_agent(const Command& command) {
  if (node_ != nullptr) node_->kill_programs();
  node_ = TRY(stage_->add_host(fmt::format("worker-1-{}", ++nodes_)));
  return restart_agent(command);
}

base::Result<lab::Process*> Inventory::restart_agent(const Command& command) {
  node_->kill_programs();
  started_ = Clock::now();
  return node_->start({.arguments = command,
                       .environment = {"NODE_NAME=worker-1", "KUBECONFIG=" + stage_->access(),
                                       fmt::format("METRICS_ADDR=127.0.0.1:{}", kMetrics)}});
}

base::Result<double> Inventory::await_ready() {
  bool ready = false;
  while (!ready && Clock::now() - started_ < kPatience) {
    TRY(node_->within([&]() -> base::Status {
      const auto answer = testbed::ask({.port = kMetrics}, "/ready");
      ready = answer && answer->status == 200;
      return {};
    }));
    if (!ready) std::this_thread::sleep_for(2ms);
  }
  if (!ready) return base::fail(base::Fault::timeout, "the agent does not become ready");
  return std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
}

base::Result<double> Inventory::metric(std::string_view name) {
  double out = 0;
  const auto ask = [&]() -> base::Status {
    const auto answer = TRY(testbed::ask({.port = kMetrics}, "/metrics"));
    const auto at = answer.body.find(fmt::format("\n{} ", name));
    if (at == std::string::npos) return base::fail(base::Fault::absent, fmt::format("no metric {}", name));
    out = std::strtod(answer.body.c_str() + at + 1 + name.size(), nullptr);
    return {};
  };
  TRY(node_->within(ask));
  return out;
}

base::Result<double> Inventory::list_alone() {
  const std::string path =
      fmt::format("/apis/{}/v1alpha1/{}?resourceVersion=0", api::kGroup, api::IPRuleConfig::kPlural);
  return timed([&]() -> base::Status {
    TRY(stage_->client().send({.method = "GET", .target = path}, kube::within(kPatience)));
    return {};
  });
}

base::Result<lab::Process> Inventory::start_controller(Command command) {
  command.insert(command.end(), {"--health-probe-bind-address=0", "--leader-elect=false"});
  return lab::Process::start({.arguments = std::move(command), .environment = {"KUBECONFIG=" + stage_->access()}});
}

}  // namespace bench
