#include "agent/cluster_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/crowd.h"
#include "agent/resources.h"
#include "agent/sooner.h"
#include "api/iprule_config.h"
#include "api/kinds.h"
#include "base/log.h"
#include "intent/cluster/active_agent.h"

namespace agent {
namespace {

constexpr auto kConfirmationTime = std::chrono::minutes(1);

kube::Selection named(const std::string& name) {
  return {.field_selector = "metadata.name=" + name};
}

const api::Agent* active(const kube::View<api::Agent>& agents, std::string_view home) {
  std::vector<const api::Agent*> all;
  for (const auto& object : agents.objects) all.push_back(&object->value);
  return intent::active_agent_by_status(all, home);
}

}  // namespace

ClusterSource::ClusterSource(kube::Client& client, std::string node, NodeSettings fallback, std::string home,
                             runtime::Signal& changed)
    : node_name_(std::move(node)),
      home_(std::move(home)),
      fallback_(std::move(fallback)),
      compiler_(node_name_),
      client_(client),
      changed_(changed),
      agents_(client, ours(api::Agent::kPlural, true), api::decode_agent, changed),
      nodes_(client, nodes(), api::decode_node, changed, named(node_name_)),
      reports_(client, ours(api::NodeState::kPlural), api::decode_node_state, changed, named(node_name_)) {
  // A node that has just booted looks at its report first, which tells how many others there are.
  if (!may_join_a_crowd(std::chrono::steady_clock::now().time_since_epoch())) follow_configs({});
}

void ClusterSource::follow_configs(base::TimePoint begin) {
  configs_.emplace(client_, ours(api::IPRuleConfig::kPlural), api::decode_published_config, changed_,
                   kube::Selection{.label_selector = fmt::format("{}={}", api::kManagedByLabel, api::kManagedByValue)},
                   kube::Store<api::PublishedConfig>::Same(), begin);
}

void ClusterSource::join() {
  const auto reports = reports_.latest();
  if (configs_ || !reports->complete) return;
  const std::int32_t nodes = reports->objects.empty() ? 0 : reports->objects.front()->value.spec.nodes;
  const auto now = std::chrono::steady_clock::now();
  const auto delay = boot_delay(node_name_, nodes, now.time_since_epoch());
  if (delay > base::Duration::zero()) {
    base::log::info("many nodes may start with this one: the published objects are asked for a little later",
                    {{"delay_ms", std::chrono::duration_cast<std::chrono::milliseconds>(delay).count()}});
  }
  follow_configs(now + delay);
}

bool ClusterSource::Basis::complete() const {
  return configs && configs->complete && agents->complete && nodes->complete && reports->complete;
}

std::optional<Wanted> ClusterSource::latest(const Sight& sight) {
  join();
  basis_ = {.configs = configs_ ? configs_->latest() : nullptr,
            .agents = agents_.latest(),
            .nodes = nodes_.latest(),
            .reports = reports_.latest()};
  if (!basis_.complete()) return std::nullopt;
  follow_token();
  saw_agent_ = saw_agent_ || active(*basis_.agents, home_) != nullptr;
  vanished_.note(basis_.configs, std::chrono::steady_clock::now());
  if (sight.kernel == nullptr) return std::nullopt;

  // Without the Node nobody knows its labels: objects that ask for some neither come nor go.
  const bool knows_labels = basis_.node() != nullptr;
  bool whole = basis_.configs->unknown.empty() && basis_.nodes->unknown.empty();
  std::vector<const api::PublishedConfig*> published;
  published.reserve(basis_.configs->objects.size());
  const auto take = [&](const kube::View<api::PublishedConfig>::Entry& object) {
    if (knows_labels || object->value.spec.node_selector.empty()) {
      published.push_back(&object->value);
    } else {
      whole = false;
    }
  };
  std::ranges::for_each(basis_.configs->objects, take);
  std::ranges::for_each(vanished_.held(), take);
  Wanted wanted = compiler_.compile(published, settings(), whole, sight);
  wanted.look_again = sooner(sooner(wanted.look_again, vanished_.next_due()), labels_.next_due());
  wanted.heirlooms = heirlooms(sight);
  if (const api::Agent* agent = active(*basis_.agents, home_)) wanted.foreign_rules = foreign_order(agent->spec);
  return wanted;
}

// Numbers from before a new token may stem from a storage that has since been set back; so the objects are listed anew.
void ClusterSource::follow_token() {
  const auto* report = basis_.report();
  const std::string token = report != nullptr ? report->value.spec.token : "";
  if (token_ && *token_ != token) {
    listed_since_token_ = basis_.configs->lists + 1;
    configs_->list_again();
  }
  token_ = token;
  basis_.listed_under_token = basis_.configs->lists >= listed_since_token_;
}

// An agent of the old project had a rule for each object that was present once, whatever its node selector; where no
// priority was given, the kernel chose.
std::vector<plan::Heirloom> ClusterSource::heirlooms(const Sight& sight) const {
  const auto is_unsigned = [](const state::Rule& rule) { return rule.protocol == 0 && rule.selector.from; };
  if (std::ranges::none_of(sight.kernel->rules, is_unsigned)) return {};
  std::vector<plan::Heirloom> out;
  for (const auto& object : basis_.configs->objects) {
    const api::PublishedConfig& config = object->value;
    if (config.is_present() && config.trust != api::PublishedConfig::Trust::trusted) continue;
    const auto source = net::Address::parse(config.spec.service_ip);
    if (!source || config.spec.table == 0) continue;
    const std::uint32_t priority = config.spec.priority;
    out.push_back({.source = *source,
                   .table = config.spec.table,
                   .priority = priority != 0 ? std::optional(priority) : std::nullopt});
  }
  return out;
}

bool ClusterSource::confirm() {
  const auto now = std::chrono::steady_clock::now();
  // What was asked for another reason, long ago, confirms nothing.
  if (confirming_ && now - confirming_->asked > kConfirmationTime) confirming_.reset();
  if (confirming_ && basis_.configs->lists >= confirming_->list) {
    confirming_.reset();
    return true;
  }
  if (!confirming_) {
    base::log::warning("most of what we steer would go; the published objects are listed again first");
    confirming_ = {.list = basis_.configs->lists + 1, .asked = now};
    configs_->list_again();
  }
  return false;
}

bool ClusterSource::saw_agent_end() const {
  const auto agents = agents_.latest();
  return saw_agent_ && agents->complete && agents->unknown.empty() && active(*agents, home_) == nullptr;
}

std::optional<std::vector<api::Agent>> ClusterSource::newest_agents(AgentList answer) const {
  const auto seen = agents_.latest();
  if (!seen->complete || answer.version > seen->version) return std::move(answer.agents);
  if (!seen->unknown.empty()) return std::nullopt;
  std::vector<api::Agent> out;
  for (const auto& object : seen->objects) out.push_back(object->value);
  return out;
}

NodeSettings ClusterSource::settings() {
  NodeSettings out = fallback_;
  if (const api::Agent* agent = active(*basis_.agents, home_)) {
    agent_spec_ = agent->spec;
  } else if (basis_.agents->unknown.empty()) {
    agent_spec_.reset();
  }
  if (agent_spec_) {
    if (agent_spec_->default_priority != 0) out.default_priority = agent_spec_->default_priority;
    out.dataplane = agent_spec_->dataplane;
  }
  if (const auto* node = basis_.node()) {
    out.labels = labels_.note(node->value.meta.labels, std::chrono::steady_clock::now());
    out.addresses = node->value.addresses;
  }
  // A NodeState that is gone, and is to be made anew, says nothing about the cluster's prefixes.
  if (const auto* report = basis_.report()) {
    cluster_prefixes_.clear();
    for (const std::string& text : report->value.spec.cluster_prefixes) {
      if (const auto prefix = net::Prefix::parse(text)) cluster_prefixes_.push_back(*prefix);
    }
  }
  out.cluster_prefixes = cluster_prefixes_;
  return out;
}

}  // namespace agent
