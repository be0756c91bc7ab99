#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "api/iprule_config.h"
#include "bench/measure.h"
#include "bench/seed.h"
#include "bench/stage.h"
#include "json/reader.h"
#include "lab/process.h"
#include "meta/condition.h"

// A whole cluster at one API server: the real controller, and of every node the real agent but for its kernel.
namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::array<std::uint32_t, 4> kSizes = {100, 250, 500, 1'000};
constexpr std::array<std::uint32_t, 3> kLines = {100, 500, 1'000};
constexpr std::uint32_t kLeastOfGrowth = 250;
constexpr int kChanges = 5;
constexpr auto kPatience = 120s;

const kube::Resource kServices{"", "v1", "services", true};
const kube::Resource kConfigs{std::string(api::kGroup), "v1alpha1", std::string(api::IPRuleConfig::kPlural), false};

kube::Limit soon() {
  return kube::within(30s);
}

struct Figures {
  double acknowledged = 0;     // Milliseconds from a Service's address to "every node has it".
  double start_requests = 0;   // Of one node, until it has answered for the first time.
  double change_requests = 0;  // Of one node, for one change.
};

class Fleet {
 public:
  base::Result<double> figure(std::uint32_t nodes, double Figures::* which) {
    if (figures_.empty()) figures_ = TRY(measure_all());
    return figures_.at(nodes).*which;
  }

 private:
  base::Result<std::map<std::uint32_t, Figures>> measure_all() {
    std::map<std::uint32_t, Figures> out;
    agents_.clear();
    nodes_ = 0;
    stage_ = TRY(Stage::build());
    seed_ = std::make_unique<Seed>(stage_->cluster());
    TRY(stage_->create(R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"IPRule","metadata":{"name":"public"},
                           "spec":{"cidrs":["203.0.113.0/24"],"table":100,"priority":1000}})"));
    TRY(stage_->create(R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"Agent",
                           "metadata":{"name":"agent","namespace":"default"}})"));
    controller_ = TRY(lab::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", stage_->access(),
                                                         "--health-probe-bind-address=0", "--leader-elect=false"}}));
    for (const std::uint32_t size : kSizes) out[size] = TRY(measure(size));
    agents_.clear();
    controller_.reset();
    stage_.reset();
    return out;
  }

  base::Result<Figures> measure(std::uint32_t size) {
    const std::uint32_t joined = size - nodes_;
    const std::uint64_t before = stage_->requests_of("fleet").all();
    TRY(seed_->put_nodes(nodes_, joined));
    agents_.push_back(TRY(
        lab::Process::start({.arguments = {FLEET, stage_->access(), std::to_string(nodes_), std::to_string(joined)}})));
    nodes_ = size;
    TRY(change());  // All of them have answered when it is acknowledged.
    const std::uint64_t started = stage_->requests_of("fleet").all();
    std::vector<double> times;
    for (int i = 0; i < kChanges; ++i) times.push_back(TRY(change()));
    const std::uint64_t changed = stage_->requests_of("fleet").all();
    return Figures{.acknowledged = median(times),
                   .start_requests = static_cast<double>(started - before) / joined,
                   .change_requests = static_cast<double>(changed - started) / size / kChanges};
  }

  // One Service is given an address; milliseconds until its object says that every node has it.
  base::Result<double> change() {
    const int i = services_++;
    const kube::Key service{.ns = "default", .name = fmt::format("web-{}", i)};
    const auto made = TRY(stage_->client().create(
        kServices, service.ns,
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
                         "ports":[{{"port":80}}]}}}})",
            service.name),
        soon()));
    json::Reader reader;
    const auto object = TRY(reader.parse(made));
    const std::string source(TRY(object["spec"]["clusterIP"].string()));
    const auto start = Clock::now();
    TRY(stage_->client().patch_status(
        kServices, service, kube::PatchType::merge,
        fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"203.0.113.{}"}}]}}}}}})", i + 1), soon()));
    for (;;) {
      const bool done = TRY(is_applied(source));
      if (done) break;
      if (Clock::now() - start > kPatience) return base::fail(base::Fault::timeout, why(source));
      std::this_thread::sleep_for(5ms);
    }
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  base::Result<bool> is_applied(std::string source) {
    for (char& c : source) c = c == '.' ? '-' : c;
    const auto body = stage_->client().get(kConfigs, {.ns = "", .name = "iprc-" + source}, soon());
    if (!body) return false;  // Not published yet.
    json::Reader reader;
    const auto object = TRY(reader.parse(*body));
    const auto config = TRY(api::decode_iprule_config(object));
    const auto* applied = meta::find(config.status.conditions, "Applied");
    return applied != nullptr && applied->status == meta::Truth::yes;
  }
  std::string why(const std::string& source) const {
    return fmt::format("{} is not on every node; the controller: {}; the agents: {}", source, controller_->output(),
                       agents_.back().output().substr(0, 2000));
  }

  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Seed> seed_;
  std::optional<lab::Process> controller_;
  std::list<lab::Process> agents_;
  std::uint32_t nodes_ = 0;
  int services_ = 0;
  std::map<std::uint32_t, Figures> figures_;
};

}  // namespace

Group scale_group() {
  const auto fleet = std::make_shared<Fleet>();
  Group group{.name = "scale", .promises = {}};
  for (const std::uint32_t nodes : kLines) {
    const auto add = [&](std::string name, double Figures::* which, std::string unit) {
      group.promises.push_back({.name = fmt::format("{}, {} nodes", name, nodes),
                                .ours = [=] { return fleet->figure(nodes, which); },
                                .rounds = 1,
                                .unit = std::move(unit)});
    };
    add("address given to acknowledged by every node", &Figures::acknowledged, "ms");
    add("requests of a node until it has first answered", &Figures::start_requests, "");
    add("requests of a node for one change", &Figures::change_requests, "");
  }
  group.growth = {{.name = "acknowledged by n nodes",
                   .least = kLeastOfGrowth,
                   .expected = 1,
                   .work = [=](std::uint32_t n) { return fleet->figure(n, &Figures::acknowledged); },
                   .rounds = 1}};
  return group;
}

}  // namespace bench
