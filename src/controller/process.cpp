#include "controller/process.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/version.h"
#include "controller/agent_rollout.h"
#include "controller/config_metrics.h"
#include "controller/job_loop.h"
#include "controller/listeners.h"
#include "controller/service_rules.h"
#include "controller/watch_metrics.h"
#include "kube/authorize.h"
#include "kube/client.h"
#include "kube/events.h"
#include "kube/leader.h"
#include "metrics/calls.h"
#include "metrics/process.h"
#include "metrics/registry.h"
#include "runtime/health.h"

namespace controller {
namespace {

// The old project's name, so that its manager and ours never lead together.
constexpr const char* kLease = "fed43742.brtrm.dev";

using Work = std::function<void(std::stop_token)>;

// A thousand Services that come at once are orders of five seconds, not of twenty. What is written for people goes at a
// pace of its own, so that no order queues up behind it.
constexpr kube::Pace kOrders{.rate = 200, .burst = 400};
constexpr kube::Pace kStatuses{};

base::Result<std::unique_ptr<kube::Client>> connect(const kube::Config& config, metrics::Registry& registry) {
  auto client =
      TRY(kube::Client::connect(config, {.user_agent = "iprule-controller/" + std::string(base::version())}, kOrders));
  client->observe_calls(metrics::count_calls(registry, config.server.authority()));
  return client;
}

// Works while the lease is held. The lease is given up only when nothing of ours writes any more, so that the next
// leader begins after our last write; what a lost lease interrupts is cancelled.
base::Status lead(kube::Leader& leader, const Work& work, std::stop_token stop) {
  if (const auto acquired = leader.acquire(stop); !acquired) {
    if (acquired.error().fault() == base::Fault::cancelled) return {};
    return acquired;
  }
  std::stop_source end_work;
  const std::stop_callback on_stop(stop, [&] { end_work.request_stop(); });
  std::stop_source release;
  const std::jthread worker([&] {
    work(end_work.get_token());
    release.request_stop();
  });
  const base::Status held = leader.hold(release.get_token());
  end_work.request_stop();
  return held;
}

}  // namespace

base::Status run(const Options& options, const kube::Config& config, std::stop_token stop) {
  metrics::Registry registry;
  metrics::add_process(registry);
  metrics::add_build_info(registry);
  const auto client = TRY(connect(config, registry));
  const auto status_client = client->beside(kStatuses);
  const std::string home = options.ns.empty() ? config.ns : options.ns;
  kube::Events events(*status_client, {.controller = "ip-rule-operator", .instance = options.pod});

  const ConfigMetrics config_metrics(registry);
  ServiceRules service_rules(*client, *status_client,
                             {.ns = home,
                              .instance = options.pod,
                              .absent_delay = options.absent_delay,
                              .figures = [&](const ServiceRulesFigures& figures) { config_metrics.passed(figures); }});
  JobLoop rules_loop(
      {.controller = "ipRule", .old = "iprule"}, service_rules.changed(),
      [&](std::stop_token end) { return service_rules.reconcile(std::move(end)); }, registry);
  AgentRollout rollout(*client, {.home = home, .image = options.agent_image}, events, registry);
  JobLoop rollout_loop(
      {.controller = "agent", .old = "agent"}, rollout.changed(),
      [&](std::stop_token end) { return rollout.reconcile(std::move(end)); }, registry);
  const Work work = [&](std::stop_token end) {
    const std::jthread agents([&] { rollout_loop.run(end); });
    rules_loop.run(end);
  };

  runtime::Health live;
  rules_loop.add_to(live);
  rollout_loop.add_to(live);
  runtime::Health ready;
  ready.add("service rules", [&] { return service_rules.waiting_for(); });
  ready.add("agents", [&] { return rollout.waiting_for(); });
  ready.add_remark("watches", [&] { return service_rules.trouble(); });

  const auto resources = ClusterWatch::resources();
  const WatchMetrics watch_metrics(registry, resources);
  registry.before_text([&] { watch_metrics.set(service_rules.watches(), base::SteadyClock().now()); });

  kube::Leader leader(*client, {.ns = home, .name = kLease});
  if (options.leader_elect) {
    const auto leading =
        registry.gauge("leader_election_master_status", "1 while this process leads.", {{"name", kLease}});
    registry.before_text([&leader, leading] { leading.set(leader.leading() ? 1 : 0); });
  }

  kube::Authorizer authorizer(*client);
  const auto listeners =
      TRY(Listeners::open(options, {.live = live, .ready = ready, .metrics = registry, .authorizer = authorizer}));

  base::Status done;
  if (options.leader_elect) {
    done = lead(leader, work, std::move(stop));
  } else {
    work(std::move(stop));
  }
  authorizer.end();  // The listeners end next: they are not to wait for an API server that does not answer.
  return done;
}

}  // namespace controller
