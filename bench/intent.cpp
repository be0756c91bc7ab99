#include <map>

#include "bench/measure.h"
#include "bench/settled_cluster.h"

// One look of the controller at a whole cluster in which everything is right: what it costs whenever anything changes.
namespace bench {
namespace {

constexpr std::uint32_t kRules = 500;
constexpr std::uint32_t kNodes = 100;

base::Result<double> quiet_pass(std::uint32_t services) {
  static std::map<std::uint32_t, intent::SmallCluster> clusters;
  auto known = clusters.find(services);
  if (known == clusters.end()) known = clusters.emplace(services, settled_cluster(services, kRules, kNodes)).first;
  return timed([&]() -> base::Status {
    const intent::Decision decision = known->second.decide();
    if (decision.desired.configs.size() < services || !decision.configs.empty() || !decision.config_statuses.empty() ||
        !decision.rule_statuses.empty()) {
      return base::fail(base::Fault::bug, "the pass found something to do");
    }
    return {};
  });
}

}  // namespace

Group intent_group() {
  return {.name = "intent",
          .promises = {{.name = "pass over 10,000 Services x 500 IPRules",
                        .ours = [] { return quiet_pass(10'000); },
                        .budget = 50}},
          .growth = {{.name = "pass over n Services", .least = 5'000, .expected = 1, .work = quiet_pass}}};
}

}  // namespace bench
