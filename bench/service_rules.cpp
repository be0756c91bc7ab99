#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "bench/inventory.h"
#include "bench/measure.h"
#include "bench/rule_events.h"
#include "bench/site.h"

namespace bench {
namespace {

constexpr int kGoes = 200;
constexpr std::uint32_t kServices = 1'000;

// Started by the first line that needs it, and shared by the others.
class Shared {
 public:
  base::Result<Site*> site() {
    if (!site_) {
      auto site = TRY(Site::start());
      TRY(site->grow_to(kServices));
      site_ = std::move(site);
    }
    return site_.get();
  }
  base::Result<Site::Idle> idle() {
    Site* const here = TRY(site());
    if (!idle_) idle_ = TRY(here->idle());
    return *idle_;
  }

 private:
  std::unique_ptr<Site> site_;
  std::optional<Site::Idle> idle_;
};

// The value that `percent` of 100 goes stay under.
template <typename Go>
base::Result<double> quantile(int percent, Go go) {
  std::vector<double> times;
  for (int i = 0; i < kGoes; ++i) times.push_back(TRY(go()));
  std::ranges::sort(times);
  return times[static_cast<std::size_t>(kGoes * percent / 100)];
}

// An agent alone, with objects that are published already.
class Beginnings {
 public:
  // Milliseconds from the start of the program to the last rule read back; on a node that has none of them yet.
  base::Result<double> first_start(std::uint32_t objects) {
    TRY(grow_to(objects));
    TRY(inventory_->start_agent({IPRULE_AGENT}));
    return inventory_->await_ready();
  }
  // The same on a node where an agent before it has left all of them, which it must not touch.
  base::Result<double> restart(std::uint32_t objects) {
    TRY(first_start(objects));
    TRY(inventory_->restart_agent({IPRULE_AGENT}));
    const double time = TRY(inventory_->await_ready());
    const double written = TRY(inventory_->metric("iprule_agent_rules_added_total"));
    if (written > 0) return base::fail(base::Fault::bug, "a restart has written to the kernel");
    return time;
  }
  base::Result<double> list_alone(std::uint32_t objects) {
    TRY(grow_to(objects));
    return inventory_->list_alone();
  }
  base::Result<double> repair(std::uint32_t objects) {
    TRY(grow_to(objects));
    TRY(inventory_->steer_by("rules"));
    TRY(inventory_->start_agent({IPRULE_AGENT}));
    TRY(inventory_->await_ready());
    auto events = TRY(RuleEvents::listen(inventory_->node()));
    TRY(events.read(inventory_->node()));
    std::size_t next = 0;
    const auto out = quantile(99, [&] { return events.repair(inventory_->node(), next++); });
    TRY(inventory_->steer_by("auto"));
    return out;
  }

 private:
  base::Status grow_to(std::uint32_t objects) {
    if (!inventory_) inventory_ = TRY(Inventory::start());
    if (objects > objects_) TRY(inventory_->grow_to(objects));
    objects_ = std::max(objects, objects_);
    if (objects != objects_) return base::fail(base::Fault::bug, "there are more objects already");
    return {};
  }

  std::unique_ptr<Inventory> inventory_;
  std::uint32_t objects_ = 0;
};

}  // namespace

Group service_rules_group() {
  const auto shared = std::make_shared<Shared>();
  const auto beginnings = std::make_shared<Beginnings>();
  const auto on_site = [shared](auto work) {
    return [shared, work]() -> base::Result<double> {
      Site* const site = TRY(shared->site());
      return work(*site);
    };
  };
  const auto idle = [shared](double Site::Idle::* what) {
    return [shared, what]() -> base::Result<double> { return TRY(shared->idle()).*what; };
  };
  return {
      .name = "service-rules",
      .promises =
          {
              {.name = "address given to kernel rule, p50 at 1,000",
               .ours = on_site([](Site& site) { return quantile(50, [&] { return site.publish(); }); }),
               .budget = 50,
               .rounds = 1},
              {.name = "address given to kernel rule, p99 at 1,000",
               .ours = on_site([](Site& site) { return quantile(99, [&] { return site.publish(); }); }),
               .budget = 100,
               .rounds = 1},
              {.name = "rule removed by others to rule back, p99 at 1,000",
               .ours = on_site([](Site& site) { return quantile(99, [&] { return site.repair(); }); }),
               .budget = 50,
               .rounds = 1},
              {.name = "processor time of the idle agent in a minute",
               .ours = idle(&Site::Idle::agent_processor),
               .budget = 100,
               .rounds = 1},
              {.name = "processor time of the idle controller in a minute",
               .ours = idle(&Site::Idle::controller_processor),
               .budget = 100,
               .rounds = 1},
              {.name = "requests of both in an idle minute, watches renewed aside",
               .ours = idle(&Site::Idle::requests),
               .budget = 0,
               .rounds = 1,
               .unit = ""},
              {.name = "agent with 1,000 configs as rules, RSS",
               .ours = on_site([](Site& site) -> base::Result<double> { return TRY(site.agent_footprint()).resident; }),
               .budget = 16,
               .rounds = 1,
               .unit = "MiB"},
              {.name = "controller with 1,000 Services, RSS",
               .ours = on_site(
                   [](Site& site) -> base::Result<double> { return TRY(site.controller_footprint()).resident; }),
               .budget = 64,
               .rounds = 1,
               .unit = "MiB"},
              {.name = "1,000 Services removed to last rule and object gone",
               .ours = on_site([](Site& site) { return site.remove_all(); }),
               .rounds = 1},
              {.name = "1,000 configs, agent's start to all verified",
               .ours = [=] { return beginnings->first_start(1'000); },
               .rounds = 3},
              {.name = "10,000 configs, agent's start to all verified",
               .ours = [=] { return beginnings->first_start(10'000); },
               .rounds = 3},
              {.name = "10,000 configs, restart with all in place, 0 writes",
               .ours = [=] { return beginnings->restart(10'000); },
               .budget = 500,
               .rounds = 3},
              {.name = "10,000 configs, handed over by the API server, not read",
               .ours = [=] { return beginnings->list_alone(10'000); },
               .rounds = 3},
              {.name = "rule removed by others to rule back, p99 at 10,000",
               .ours = [=] { return beginnings->repair(10'000); },
               .budget = 50,
               .rounds = 1},
          },
      .growth = {{.name = "n configs, agent's start to all verified",
                  .least = 10'000,
                  .expected = 1,
                  .work = [=](std::uint32_t n) { return beginnings->first_start(n); },
                  .rounds = 2}}};
}

}  // namespace bench
