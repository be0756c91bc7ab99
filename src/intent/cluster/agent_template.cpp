#include "intent/cluster/agent_template.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "api/duration.h"
#include "api/kinds.h"
#include "base/sha256.h"
#include "net/address.h"

namespace intent {
namespace {

using api::Agent;
using api::DaemonSet;

constexpr std::string_view kHashAnnotation = "iprule.operator.brtrm.dev/template-hash";
constexpr std::string_view kNameLabel = "app.kubernetes.io/name";
constexpr std::string_view kDefaultPeriod = "10s";
constexpr std::string_view kDefaultMetrics = ":9090";
constexpr std::string_view kLoopbackMetrics = "127.0.0.1:9090";
constexpr std::string_view kPriorityClass = "system-node-critical";

std::vector<api::Toleration> sorted(std::vector<api::Toleration> tolerations) {
  std::ranges::sort(tolerations, {}, [](const api::Toleration& one) {
    return std::tie(one.key, one.effect, one.op, one.value, one.seconds);
  });
  return tolerations;
}

// As written where that is in force, else what is.
std::string period_text(const Agent::Spec& spec) {
  const auto in_force = api::reconcile_period(spec);
  const auto given = api::parse_duration(spec.reconcile_period);
  if (given && *given == in_force) return spec.reconcile_period;
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(in_force).count());
}

struct MetricsAddress {
  std::string text;  // As the agent takes it; empty: it serves nothing.
  std::string host;  // Empty: every address.
  std::int32_t port = 0;
};

// Where probes go, for what the agent reads (http::ListenAddress): "", "127.0.0.1", "localhost", "[::1]".
std::optional<std::string> probed_host(std::string_view host) {
  if (host.empty()) return "";
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = net::Address::parse(host);
  if (!address || bracketed != host.contains(':')) return std::nullopt;
  return address->is_unspecified() ? "" : address->text();
}

std::optional<MetricsAddress> read_metrics_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto host = probed_host(text.substr(0, colon));
  if (!host) return std::nullopt;
  MetricsAddress out{.text = std::string(text), .host = *host};
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  const bool is_port = error == std::errc() && end == port.data() + port.size() && out.port > 0 && out.port < 65536;
  return is_port ? std::optional(out) : std::nullopt;
}

// ":9090", "127.0.0.1:9090", "[::1]:9090"; "0" is off. Text that cannot be read (from a time before the schema refused
// it) asked for one address: the node's own is as much as that, every address would be more. The agent must not see the
// text: it would listen everywhere, and the probes ask where nobody is.
MetricsAddress metrics_address(const Agent::Spec& spec) {
  if (spec.metrics_bind_address == "0") return {};
  if (spec.metrics_bind_address.empty()) return *read_metrics_address(kDefaultMetrics);
  return read_metrics_address(spec.metrics_bind_address).value_or(*read_metrics_address(kLoopbackMetrics));
}

DaemonSet::Variable variable(std::string name, std::string value) {
  return {.name = std::move(name), .value = std::move(value), .value_from = {}};
}
DaemonSet::Variable from_pod(std::string name, std::string field) {
  return {.name = std::move(name), .value = {}, .value_from = {.field_ref = {std::move(field)}}};
}

std::vector<DaemonSet::Variable> environment(const Agent::Spec& spec, const MetricsAddress& metrics) {
  std::vector<DaemonSet::Variable> out = {from_pod("NODE_NAME", "spec.nodeName"), from_pod("POD_NAME", "metadata.name"),
                                          from_pod("POD_NAMESPACE", "metadata.namespace"),
                                          variable("RECONCILE_PERIOD", period_text(spec)),
                                          variable("METRICS_ADDR", metrics.text)};
  if (api::default_priority(spec) != api::kDefaultPriority) {
    out.push_back(variable("DEFAULT_PRIORITY", std::to_string(api::default_priority(spec))));
  }
  if (spec.log_level != api::LogLevel::info) {
    constexpr auto kWords = api::names(api::LogLevel());
    out.push_back(variable("LOG_LEVEL", std::string(kWords[static_cast<std::size_t>(spec.log_level)])));
  }
  return out;
}

DaemonSet::Probe probe(std::string path, const MetricsAddress& metrics, std::int32_t delay, std::int32_t period) {
  return {.http_get = {.path = std::move(path), .port = {"metrics"}, .host = metrics.host},
          .initial_delay = delay,
          .period = period,
          .timeout = 2,
          .failure_threshold = 3};
}

api::Resources resources(const Agent::Spec& spec) {
  if (spec.resources != api::Resources()) return spec.resources;
  return {.requests = {{{"cpu", "10m"}, {"memory", "16Mi"}}}, .limits = {{{"cpu", "100m"}, {"memory", "64Mi"}}}};
}

// The account's token, as the server would mount it itself, but for an hour at most: the server's own lasts a year
// where it still expects old clients, and a copy of the file is worth as much. For the API server alone, its default
// audience.
constexpr std::string_view kAccountVolume = "api-access";
constexpr std::string_view kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::int64_t kTokenSeconds = 3600;

api::ProjectedVolume account() {
  const api::TokenProjection token{.path = "token", .expiration = kTokenSeconds};
  const api::ConfigMapProjection certificates{.name = "kube-root-ca.crt",
                                              .items = {{.key = "ca.crt", .path = "ca.crt"}}};
  const api::PodFields place{.items = {{.path = "namespace", .field = {"metadata.namespace"}}}};
  return {.name = std::string(kAccountVolume),
          .projected = {.sources = {{.token = token}, {.config_map = certificates}, {.pod = place}}}};
}

DaemonSet::Container container(const Agent::Spec& spec, std::string image) {
  const MetricsAddress metrics = metrics_address(spec);
  DaemonSet::Container out;
  out.name = "agent";
  out.image = std::move(image);
  out.image_pull_policy = "IfNotPresent";
  out.env = environment(spec, metrics);
  if (!metrics.text.empty()) {
    out.ports = {{.name = "metrics", .container_port = metrics.port, .protocol = "TCP"}};
    out.liveness = probe("/health", metrics, 10, 30);
    out.readiness = probe("/ready", metrics, 5, 15);
  }
  out.resources = resources(spec);
  out.mounts = {{.name = std::string(kAccountVolume), .path = std::string(kAccountFolder), .read_only = true}};
  out.security_context = {.allow_privilege_escalation = false,
                          .read_only_root = true,
                          .run_as_non_root = false,
                          .run_as_user = 0,
                          .capabilities = {.add = {"NET_ADMIN"}, .drop = {"ALL"}},
                          .seccomp_profile = {"RuntimeDefault"}};
  return out;
}

template <typename Map>
bool contains_all(const Map& live, const Map& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    const auto* value = live.find(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

template <typename T>
bool contains_each(const std::vector<T>& live, const std::vector<T>& wanted) {
  return std::ranges::all_of(wanted, [&](const T& one) { return std::ranges::find(live, one) != live.end(); });
}

bool covers(const DaemonSet::Container& live, const DaemonSet::Container& wanted) {
  DaemonSet::Container same = live;
  same.env = wanted.env;  // The parts where others may add.
  same.mounts = wanted.mounts;
  return same == wanted && contains_each(live.env, wanted.env) && contains_each(live.mounts, wanted.mounts);
}

bool covers(const DaemonSet::PodSpec& live, const DaemonSet::PodSpec& wanted) {
  DaemonSet::PodSpec same = live;
  same.containers = wanted.containers;
  same.volumes = wanted.volumes;
  return same == wanted && contains_each(live.volumes, wanted.volumes) &&
         std::ranges::all_of(wanted.containers, [&](const DaemonSet::Container& container) {
           const auto found = std::ranges::find(live.containers, container.name, &DaemonSet::Container::name);
           return found != live.containers.end() && covers(*found, container);
         });
}

}  // namespace

std::string template_hash(const Agent::Spec& spec, std::string_view image) {
  std::string text = fmt::format("img={};ns=", image);
  const auto out = std::back_inserter(text);
  for (const auto& [key, value] : spec.node_selector) fmt::format_to(out, "{}={};", key, value);
  const auto tolerations = sorted(spec.tolerations);
  for (const auto& one : tolerations) fmt::format_to(out, "tol:{}:{}:{}:{};", one.key, one.op, one.effect, one.value);

  // What the old project does not know, only where it is said.
  for (const auto& one : tolerations) {
    if (one.seconds) fmt::format_to(out, "tolsec:{}:{}:{};", one.key, one.effect, *one.seconds);
  }
  if (period_text(spec) != kDefaultPeriod) fmt::format_to(out, "rp={};", period_text(spec));
  if (api::default_priority(spec) != api::kDefaultPriority) {
    fmt::format_to(out, "prio={};", api::default_priority(spec));
  }
  if (const auto metrics = metrics_address(spec); metrics.text != kDefaultMetrics) {
    fmt::format_to(out, "metrics={};", metrics.text);
  }
  if (!spec.priority_class_name.empty()) fmt::format_to(out, "class={};", spec.priority_class_name);
  if (spec.log_level != api::LogLevel::info) fmt::format_to(out, "log={};", static_cast<int>(spec.log_level));
  for (const auto& [key, value] : spec.resources.requests.amounts) fmt::format_to(out, "req:{}={};", key, value);
  for (const auto& [key, value] : spec.resources.limits.amounts) fmt::format_to(out, "lim:{}={};", key, value);
  return base::sha256_hex(text).substr(0, 16);
}

DaemonSet agent_daemon_set(const Agent& agent, std::string_view default_image) {
  const std::string image = agent.spec.image.empty() ? std::string(default_image) : agent.spec.image;
  DaemonSet out;
  out.meta.name = kAgentName;
  out.meta.ns = agent.meta.ns;
  out.meta.labels = {{"app", std::string(kAgentName)},
                     {std::string(kNameLabel), std::string(api::kManagedByValue)},
                     {std::string(api::kManagedByLabel), std::string(api::kManagedByValue)}};
  out.meta.owners = {{.api_version = std::string(api::kApiVersion),
                      .kind = std::string(Agent::kKind),
                      .name = agent.meta.name,
                      .uid = agent.meta.uid,
                      .controller = true,
                      .block_owner_deletion = true}};
  out.spec.selector.match_labels = {{"app", std::string(kAgentName)}};
  out.spec.update_strategy = {.type = "RollingUpdate", .rolling_update = {.max_unavailable = {"1"}}};

  out.spec.pod.meta.labels = {{"app", std::string(kAgentName)},
                              {std::string(kNameLabel), std::string(api::kManagedByValue)}};
  out.spec.pod.meta.annotations = {{std::string(kHashAnnotation), template_hash(agent.spec, image)}};
  DaemonSet::PodSpec& pod = out.spec.pod.spec;
  pod.service_account_name = kAgentName;
  pod.automount_token = false;
  pod.volumes = {account()};
  pod.host_network = true;
  pod.dns_policy = "ClusterFirstWithHostNet";
  pod.node_selector = agent.spec.node_selector;
  pod.tolerations = agent.spec.tolerations;
  pod.termination_grace_period = 30;
  pod.priority_class_name =
      agent.spec.priority_class_name.empty() ? std::string(kPriorityClass) : agent.spec.priority_class_name;
  pod.containers = {container(agent.spec, image)};
  return out;
}

bool covers(const DaemonSet& live, const DaemonSet& wanted) {
  return contains_all(live.meta.labels, wanted.meta.labels) && contains_each(live.meta.owners, wanted.meta.owners) &&
         live.spec.selector == wanted.spec.selector && live.spec.update_strategy == wanted.spec.update_strategy &&
         contains_all(live.spec.pod.meta.labels, wanted.spec.pod.meta.labels) &&
         contains_all(live.spec.pod.meta.annotations, wanted.spec.pod.meta.annotations) &&
         covers(live.spec.pod.spec, wanted.spec.pod.spec);
}

}  // namespace intent
