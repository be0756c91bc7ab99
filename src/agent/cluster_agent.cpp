#include "agent/cluster_agent.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/agent_list.h"
#include "agent/foreign_lines.h"
#include "agent/host_network.h"
#include "agent/purge.h"
#include "agent/resources.h"
#include "base/log.h"
#include "http/probe.h"
#include "json/reader.h"
#include "kube/discovery.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookAround = 6s;
constexpr auto kFarewell = 3s;
constexpr std::size_t kMostForeignShown = 10;  // To who does not ask for all of them.

// A loop that is silent for so long in the midst of its work is stuck. A bulk of changes may take some seconds.
base::Duration patience(std::chrono::milliseconds period) {
  return std::max<base::Duration>(3 * period, 30s);
}

kube::Result<AgentList> list_agents(kube::Client& client, const kube::Limit& limit) {
  const std::string body = TRY(client.list(ours(api::Agent::kPlural, true), {}, limit));
  return TRY(decode_agent_list(body));
}

// What a server says of a kind that it does not have, or, to somebody whose rights went along, of any.
bool may_lack_the_kind(const kube::Error& error) {
  return error.fault() == base::Fault::absent || (error.status && error.status->code == 403);
}

base::Result<meta::Labels> labels_of(kube::Client& client, const std::string& node, const kube::Limit& limit) {
  const std::string body = TRY(client.get(nodes(), {.ns = "", .name = node}, limit));
  json::Reader reader;
  const auto object = TRY(reader.parse(body));
  return TRY(api::decode_node(object)).meta.labels;
}

// None where it is known by its name.
std::vector<net::Address> addresses_of(const http::Url& server) {
  const auto address = net::Address::parse(server.host);
  return address ? std::vector{*address} : std::vector<net::Address>();
}

}  // namespace

ClusterAgent::ClusterAgent(kube::Client& client, const http::Url& server, std::string node,
                           const Environment& environment, metrics::Registry& registry)
    : client_(client),
      node_(std::move(node)),
      home_(environment.pod_namespace),
      ownership_{.protocols = {environment.rule_protocol}},
      identity_(NodeIdentity::of_this_node()),
      heartbeat_("loop", patience(environment.reconcile_period), clock_),
      registry_(registry),
      metrics_(registry),
      token_node_(client, node_, changed_),
      source_(client, node_,
              {.default_priority = environment.default_priority,
               .protocol = environment.rule_protocol,
               .api_servers = addresses_of(server)},
              home_, changed_),
      reporter_(client, node_),
      loop_([this](const Sight& sight) { return wanted(sight); }, changed_,
            {.ownership = ownership_,
             .audit = environment.reconcile_period,
             .confirm = [this] { return source_.confirm(); },
             .heartbeat = &heartbeat_,
             .after = [this](const Looked& looked) { after(looked); }}) {
  alive_.add(heartbeat_);
  readiness_.add_to(ready_);
  if (environment.metrics) probes_.emplace(*environment.metrics, routes());
}

void ClusterAgent::run(std::stop_token stop) {
  loop_.run(std::move(stop));
  leave();
}

// As published, unless that is another node's, or this is no node's network: what is in the kernel then stays as it is.
std::optional<Wanted> ClusterAgent::wanted(const Sight& sight) {
  auto out = source_.latest(sight);
  const auto* node = source_.basis().complete() ? source_.basis().node() : nullptr;
  if (sight.kernel != nullptr && node != nullptr) {
    elsewhere_ = not_the_hosts_network(node->value.addresses, sight.facts);
  }
  return may_act() ? std::move(out) : std::nullopt;
}

bool ClusterAgent::may_act() const {
  return token_node_.verdict().may_act && !elsewhere_;
}

// All of it within the time that a pod has to end.
void ClusterAgent::leave() {
  const kube::Limit limit = kube::within(kLookAround);
  // One that has only just started may not know yet who it is.
  while (!token_node_.verdict().is_given() && changed_.wait({}, limit.deadline)) continue;
  // Whether another node's agent is to go says nothing about this one's rules.
  if (!may_act()) return base::log::info("our rules stay");
  const auto reason = reason_to_purge(look_around(limit));
  if (!reason) {
    base::log::info("our rules stay");
    return;
  }
  base::log::info("our rules go", {{"reason", *reason}});
  const auto gone = purge(ownership_, {});
  if (!gone) {
    base::log::error("some of our rules are left", {{"err", gone.error().message()}});
    return;
  }
  if (auto last = farewell(source_.basis(), identity_)) reporter_.close(*std::move(last), kube::within(kFarewell));
}

Circumstances ClusterAgent::look_around(const kube::Limit& limit) {
  Circumstances out{.home = home_};
  if (auto list = list_agents(client_, limit)) {
    out.agents = source_.newest_agents(*std::move(list));
  } else if (may_lack_the_kind(list.error())) {
    out.kind_is_gone = !kube::is_served(client_, ours(api::Agent::kPlural, true), limit).value_or(true);
  }
  if (const auto labels = labels_of(client_, node_, limit)) out.labels = *labels;
  // Where the whole install is deleted at once, our rights may be gone before the Agent is. The watch was opened with
  // them and goes on, so it has the last word, perhaps in a moment.
  const bool is_answered = out.agents || out.kind_is_gone;
  while (!is_answered && !source_.saw_agent_end() && changed_.wait({}, limit.deadline)) continue;
  out.saw_deletion = source_.saw_agent_end();
  return out;
}

void ClusterAgent::after(const Looked& looked) {
  const auto& basis = source_.basis();
  freshness_.note(basis, clock_.now());
  const auto& doubt = freshness_.doubt();
  readiness_.note(looked, node_trouble(), doubt ? std::optional(doubt->text()) : std::nullopt);
  metrics_.note(looked);
  metrics_.note(basis);
  metrics_.note(freshness_);
  if (looked && *looked) foreign_.publish((*looked)->foreign);
  if (!token_node_.verdict().may_act) return;
  auto found = elsewhere_ ? standing_still(basis, identity_, *elsewhere_) : findings(basis, looked, identity_, doubt);
  if (found) reporter_.note(*std::move(found));
}

// A name that is taken from the host and is not the Node's would lead to a report that nobody asked for.
std::optional<std::string> ClusterAgent::node_trouble() const {
  if (auto trouble = token_node_.verdict().trouble) return trouble;
  if (elsewhere_) return elsewhere_->text();
  const auto& basis = source_.basis();
  if (!basis.nodes || !basis.nodes->complete || basis.node() != nullptr) return std::nullopt;
  return fmt::format("NoSuchNode: there is no Node {}; set NODE_NAME to the name of this node", node_);
}

// With the rules of others that the Agent's foreignRules are about: what `Prune` removes, or would.
http::Response ClusterAgent::answer_ready(const http::Request& request) const {
  http::Response out = http::probe(ready_, "ready")(request);
  const auto foreign = foreign_.latest();
  out.body += foreign_lines(*foreign, request.target.contains("?verbose") ? foreign->size() : kMostForeignShown);
  return out;
}

http::Routes ClusterAgent::routes() {
  http::Routes out;
  out.add("/health", http::probe(alive_, "ok"));
  out.add("/ready", [this](const http::Request& request) { return answer_ready(request); });
  out.add("/metrics", [this](const http::Request&) {
    return http::Response{.status = 200,
                          .headers = {{"content-type", std::string(metrics::Registry::kContentType)}},
                          .body = registry_.text()};
  });
  return out;
}

}  // namespace agent
