#include "agent/cluster_agent.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "http/probe.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// A loop that is silent for so long in the midst of its work is stuck. A bulk of changes may take some seconds.
base::Duration patience(std::chrono::milliseconds period) {
  return std::max<base::Duration>(3 * period, 30s);
}

}  // namespace

ClusterAgent::ClusterAgent(kube::Client& client, std::string node, const Environment& environment)
    : node_(std::move(node)),
      identity_(NodeIdentity::of_this_node()),
      heartbeat_("loop", patience(environment.reconcile_period), clock_),
      metrics_(registry_),
      source_(client, node_, {.default_priority = environment.default_priority, .protocol = environment.rule_protocol},
              environment.pod_namespace, changed_),
      reporter_(client, node_),
      loop_([this] { return source_.latest(); }, changed_,
            {.ownership = {.protocols = {environment.rule_protocol}},
             .audit = environment.reconcile_period,
             .heartbeat = &heartbeat_,
             .after = [this](const Looked& looked) { after(looked); }}) {
  alive_.add(heartbeat_);
  readiness_.add_to(ready_);
  if (environment.metrics) probes_.emplace(*environment.metrics, routes());
}

void ClusterAgent::run(std::stop_token stop) {
  loop_.run(std::move(stop));
}

void ClusterAgent::after(const Looked& looked) {
  readiness_.note(looked, node_trouble());
  metrics_.note(looked);
  metrics_.note(source_.basis());
  if (auto found = findings(source_.basis(), looked, identity_)) reporter_.note(*std::move(found));
}

// A name that is taken from the host and is not the Node's would lead to a report that nobody asked for.
std::optional<std::string> ClusterAgent::node_trouble() const {
  const auto& basis = source_.basis();
  if (!basis.nodes || !basis.nodes->complete || basis.node() != nullptr) return std::nullopt;
  return fmt::format("NoSuchNode: there is no Node {}; set NODE_NAME to the name of this node", node_);
}

http::Routes ClusterAgent::routes() {
  http::Routes out;
  out.add("/health", http::probe(alive_, "ok"));
  out.add("/ready", http::probe(ready_, "ready"));
  out.add("/metrics", [this](const http::Request&) {
    return http::Response{.status = 200,
                          .headers = {{"content-type", std::string(metrics::Registry::kContentType)}},
                          .body = registry_.text()};
  });
  return out;
}

}  // namespace agent
