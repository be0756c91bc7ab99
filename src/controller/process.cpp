#include "controller/process.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/version.h"
#include "controller/job_loop.h"
#include "controller/listeners.h"
#include "controller/service_rules.h"
#include "kube/authorize.h"
#include "kube/client.h"
#include "kube/leader.h"
#include "metrics/process.h"
#include "metrics/registry.h"
#include "runtime/health.h"

namespace controller {
namespace {

// The old project's name, so that its manager and ours never lead together.
constexpr const char* kLease = "fed43742.brtrm.dev";

using Work = std::function<void(std::stop_token)>;

base::Result<std::unique_ptr<kube::Client>> connect(const kube::Config& config) {
  return kube::Client::connect(config, {.user_agent = "iprule-controller/" + std::string(base::version())});
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
  const auto client = TRY(connect(config));
  const auto lease_client = TRY(connect(config));  // A renewal does not queue up behind other calls.

  metrics::Registry registry;
  metrics::add_process(registry);
  metrics::add_build_info(registry);

  ServiceRules service_rules(*client, {.ns = options.ns.empty() ? config.ns : options.ns});
  JobLoop rules_loop(
      {.controller = "ipRule", .old = "iprule"}, service_rules.changed(),
      [&](std::stop_token end) { return service_rules.reconcile(std::move(end)); }, registry);
  const Work work = [&](std::stop_token end) { rules_loop.run(std::move(end)); };

  runtime::Health live;
  rules_loop.add_to(live);
  runtime::Health ready;
  ready.add("service rules", [&] { return service_rules.waiting_for(); });

  kube::Leader leader(*lease_client, {.ns = options.ns.empty() ? config.ns : options.ns, .name = kLease});
  if (options.leader_elect) {
    const auto leading =
        registry.gauge("leader_election_master_status", "1 while this process leads.", {{"name", kLease}});
    registry.before_text([&leader, leading] { leading.set(leader.leading() ? 1 : 0); });
  }

  kube::Authorizer authorizer(*client);
  const auto listeners =
      TRY(Listeners::open(options, {.live = live, .ready = ready, .metrics = registry, .authorizer = authorizer}));

  if (options.leader_elect) return lead(leader, work, std::move(stop));
  work(std::move(stop));
  return {};
}

}  // namespace controller
