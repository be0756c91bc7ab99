#include "bench/site.h"

#include <thread>

#include <fmt/format.h>

#include "api/iprule_config.h"
#include "json/reader.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 60s;

const kube::Resource kServices{"", "v1", "services", true};
const kube::Resource kConfigs{std::string(api::kGroup), "v1alpha1", std::string(api::IPRuleConfig::kPlural), false};

kube::Limit soon() {
  return kube::within(30s);
}

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string name_of(std::uint32_t i) {
  return fmt::format("web-{}", i);
}

}  // namespace

base::Result<std::unique_ptr<Site>> Site::start() {
  std::unique_ptr<Site> site(new Site());
  TRY(site->prepare());
  return site;
}

base::Status Site::prepare() {
  stage_ = TRY(Stage::build());
  TRY(stage_->create(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-1"}})"));
  TRY(stage_->create(R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"IPRule","metadata":{"name":"public"},
                         "spec":{"cidrs":["203.0.113.0/24"],"table":100,"priority":1000}})"));
  // As the install leaves it.
  TRY(stage_->create(
      R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"iprule-agent","namespace":"default"}})"));
  // As rules, however many: each of them is told by an event of its own.
  TRY(stage_->create(R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"Agent",
                         "metadata":{"name":"agent","namespace":"default"},"spec":{"dataplane":"rules"}})"));
  node_ = TRY(stage_->add_host("worker-1"));
  events_ = TRY(RuleEvents::listen(*node_));
  const std::string access = stage_->access();
  controller_ = TRY(lab::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", access,
                                                       "--health-probe-bind-address=0", "--leader-elect=false"}}));
  agent_ = TRY(node_->start(
      {.arguments = {IPRULE_AGENT, "--kubeconfig", access}, .environment = {"NODE_NAME=worker-1", "METRICS_ADDR="}}));
  return {};
}

base::Result<std::string> Site::create_service(std::uint32_t i) {
  const auto made = TRY(stage_->client().create(
      kServices, "default",
      fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
                       "ports":[{{"port":80}}]}}}})",
                  name_of(i)),
      soon()));
  json::Reader reader;
  const auto object = TRY(reader.parse(made));
  return std::string(TRY(object["spec"]["clusterIP"].string()));
}

base::Status Site::give_address(std::uint32_t i) {
  TRY(stage_->client().patch_status(
      kServices, {"default", name_of(i)}, kube::PatchType::merge,
      fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"203.0.113.{}"}}]}}}}}})", i % 250 + 1), soon()));
  return {};
}

base::Status Site::grow_to(std::uint32_t count) {
  std::vector<std::string> sources;
  for (; services_ < count; ++services_) {
    sources.push_back(TRY(create_service(services_)));
    TRY(give_address(services_));
  }
  return events_->await(std::move(sources));
}

base::Result<double> Site::publish() {
  const std::uint32_t i = services_++;
  std::vector<std::string> source = {TRY(create_service(i))};
  const auto start = Clock::now();
  TRY(give_address(i));
  TRY(events_->await(std::move(source)));
  return since(start);
}

base::Result<double> Site::repair() {
  return events_->repair(*node_, repaired_++ % events_->seen().size());
}

base::Result<double> Site::remove_all() {
  const auto start = Clock::now();
  TRY(stage_->client().send(
      {.method = "DELETE", .target = "/api/v1/namespaces/default/services?fieldSelector=metadata.name%21%3Dkubernetes"},
      kube::within(kPatience)));
  TRY(events_->await_end());
  for (;;) {
    const std::string body = TRY(stage_->client().list(kConfigs, {.limit = 1}, soon()));
    json::Reader reader;
    const auto list = TRY(reader.parse(body));
    const auto items = TRY(list["items"].items_or_none());
    if (items.empty()) return since(start);
    if (Clock::now() - start > kPatience) return base::fail(base::Fault::timeout, "objects are left");
    std::this_thread::sleep_for(5ms);
  }
}

base::Result<Site::Idle> Site::idle() {
  constexpr auto kStretch = 20s;
  constexpr double kPerMinute = 60s / kStretch;
  // There is no kubelet: somebody has to say that the agent runs, or the controller looks for the cause again and
  // again.
  TRY(stage_->cluster().kubectl(
      {"patch", "daemonset", "iprule-agent", "-n", "default", "--subresource=status", "--type=merge", "-p",
       R"({"status":{"currentNumberScheduled":1,"desiredNumberScheduled":1,"numberAvailable":1,"numberMisscheduled":0,
           "numberReady":1,"observedGeneration":1,"updatedNumberScheduled":1}})"}));
  TRY(agent_footprint());  // Both have come to rest.
  TRY(controller_footprint());
  const auto requests = [this] {
    return stage_->requests_of("iprule-agent").others + stage_->requests_of("iprule-controller").others;
  };
  const double agent = processor_milliseconds(agent_->pid());
  const double controller = processor_milliseconds(controller_->pid());
  const std::uint64_t before = requests();
  std::this_thread::sleep_for(kStretch);
  return Idle{.agent_processor = (processor_milliseconds(agent_->pid()) - agent) * kPerMinute,
              .controller_processor = (processor_milliseconds(controller_->pid()) - controller) * kPerMinute,
              .requests = static_cast<double>(requests() - before) * kPerMinute};
}

}  // namespace bench
