#include "controller/job_loop.h"

namespace controller {
namespace {

constexpr const char* kEverything = "everything";

}  // namespace

JobLoop::JobLoop(const Names& names, runtime::Signal& changed, Reconcile reconcile, metrics::Registry& registry)
    : metrics_(registry, names.controller, names.old),
      changed_(changed),
      controller_(
          {.name = names.controller},
          [reconcile = std::move(reconcile)](const kube::WorkKey&, std::stop_token stop) { return reconcile(stop); },
          [this](const kube::Pass& pass) { metrics_.passed(pass); }) {
  registry.before_text([this] { metrics_.set_queue(controller_.queue().counts(), controller_.active_workers()); });
}

void JobLoop::run(std::stop_token stop) {
  const auto look = [this] { controller_.queue().add(kEverything); };
  const runtime::Signal::Listener listener(changed_, look);
  look();
  controller_.run(stop);
}

}  // namespace controller
