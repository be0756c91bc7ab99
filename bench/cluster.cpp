#include <deque>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/measure.h"
#include "intent/cluster/decision.h"

// One look of the controller at a whole cluster in which everything is right: what it costs whenever anything changes.
namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kRules = 500;
constexpr int kNodes = 100;
constexpr std::int64_t kNow = 1'000'000;  // Any epoch after all writes.

template <typename T>
std::vector<const T*> pointers(const std::deque<T>& objects) {
  std::vector<const T*> out;
  for (const T& object : objects) out.push_back(&object);
  return out;
}

net::Address address(std::uint32_t first, std::uint32_t n) {
  return net::Address::parse(fmt::format("{}.{}.{}.{}", first, n >> 16U & 255U, n >> 8U & 255U, n & 255U)).value();
}

class Cluster {
 public:
  explicit Cluster(std::uint32_t services) {
    for (std::uint32_t i = 0; i < kRules; ++i) {
      api::IPRule& rule = rules_.emplace_back();
      rule.meta = {.name = fmt::format("rule-{}", i), .uid = fmt::format("rule-{}", i), .generation = 1};
      rule.spec.cidrs = {fmt::format("20.0.{}.0/{}", i / 2, i % 2 == 0 ? 24 : 25)};
      rule.spec.table = 100 + i;
      rule.spec.priority = 1000 + i;
    }
    for (std::uint32_t i = 0; i < services; ++i) {
      api::Service& service = services_.emplace_back();
      service.meta = {.name = fmt::format("service-{}", i), .ns = "shop", .uid = fmt::format("service-{}", i)};
      service.is_load_balancer = true;
      service.cluster_ips = {address(10, i)};
      service.vips = {address(20, i % 250 * 256 + i / 250)};
    }
    for (int i = 0; i < kNodes; ++i) add_node(fmt::format("node-{}", i));
    for (int i = 0; i < 3; ++i) settle();
  }

  intent::Decision decide() {
    const auto rules = pointers(rules_);
    const auto services = pointers(services_);
    const auto configs = pointers(configs_);
    const auto nodes = pointers(nodes_);
    const auto pods = pointers(pods_);
    const auto states = pointers(states_);
    patience_.begin_pass(base::TimePoint(1000s));
    return intent::decide({.rules = rules,
                           .services = services,
                           .slices = {},
                           .configs = configs,
                           .places = {.nodes = nodes, .pods = pods, .states = states, .unseen = {}},
                           .agent = nullptr,
                           .may_withdraw = true,
                           .fresh_token = "t",
                           .distrusted = {},
                           .now = meta::Time(1000s)},
                          patience_);
  }

 private:
  void add_node(std::string name) {
    nodes_.emplace_back().meta = {.name = name, .uid = name};
    api::Pod& pod = pods_.emplace_back();
    pod.node_name = name;
    pod.reports = pod.is_ready = true;
    api::NodeState& state = states_.emplace_back();
    state.meta = {.name = name, .owners = {{.api_version = "v1", .kind = "Node", .name = name, .uid = name}}};
    state.spec.token = state.status.token = "t";
    state.status.settled = {{.kind = "IPRuleConfig", .epoch = kNow, .failed_count = 0, .failed = {}}};
  }
  // Everything decided is done.
  void settle() {
    const intent::Decision decision = decide();
    for (const intent::Write& write : decision.configs) {
      api::IPRuleConfig& config = configs_.emplace_back(write.object);
      config.meta.uid = config.meta.name;
      config.meta.generation = 1;
      config.meta.resource_version = fmt::format("{}", configs_.size());
    }
    std::size_t at = 0;
    for (const auto& write : decision.config_statuses) {
      while (configs_[at % configs_.size()].meta.name != write.object.meta.name) ++at;
      configs_[at % configs_.size()].status = write.object.status;
    }
    for (const auto& write : decision.rule_statuses) {
      for (api::IPRule& rule : rules_) {
        if (rule.meta.name == write.object.meta.name) rule.status = write.object.status;
      }
    }
  }

  std::deque<api::IPRule> rules_;
  std::deque<api::Service> services_;
  std::deque<api::IPRuleConfig> configs_;
  std::deque<api::Node> nodes_;
  std::deque<api::Pod> pods_;
  std::deque<api::NodeState> states_;
  intent::Patience patience_{5s};
};

base::Result<double> quiet_pass(std::uint32_t services) {
  static std::map<std::uint32_t, Cluster> clusters;
  Cluster& cluster = clusters.try_emplace(services, services).first->second;
  return timed([&]() -> base::Status {
    const intent::Decision decision = cluster.decide();
    if (decision.desired.configs.size() != services || !decision.configs.empty() || !decision.config_statuses.empty() ||
        !decision.rule_statuses.empty()) {
      return base::fail(base::Fault::bug, "the pass found something to do");
    }
    return {};
  });
}

}  // namespace

Group cluster_group() {
  return {.name = "cluster",
          .promises = {{.name = "pass over 10,000 Services x 500 IPRules",
                        .ours = [] { return quiet_pass(10'000); },
                        .budget = 50}},
          .growth = {{.name = "pass over n Services", .least = 5'000, .expected = 1, .work = quiet_pass}}};
}

}  // namespace bench
