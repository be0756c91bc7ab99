#include "controller/agent_rollout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/log.h"
#include "controller/resources.h"
#include "controller/rollout_causes.h"
#include "controller/set_ownership.h"
#include "controller/waiting.h"
#include "controller/waits.h"
#include "intent/cluster/active_agent.h"
#include "intent/cluster/agent_template.h"
#include "json/writer.h"
#include "kube/discovery.h"
#include "kube/review.h"

namespace controller {
namespace {

using namespace std::chrono_literals;
using api::Agent;
using api::DaemonSet;
using base::Fault;
using intent::kAgentName;

constexpr auto kRequestTime = 30s;
constexpr auto kLookAgain = 10s;  // At causes that no watch of ours tells, while agents do not run.

const kube::Resource kPolicies{.group = "admissionregistration.k8s.io",
                               .version = "v1",
                               .plural = "validatingadmissionpolicies",
                               .namespaced = false};
const kube::Resource kSets{.group = "apps", .version = "v1", .plural = "daemonsets"};

kube::Key key_of(const meta::Meta& meta) {
  return {.ns = meta.ns, .name = meta.name};
}
kube::Key set_key(const std::string& ns) {
  return {.ns = ns, .name = std::string(kAgentName)};
}

std::string encode_status(const Agent& agent, const Agent::Status& status) {
  Agent changed = agent;
  changed.status = status;
  json::Reader reader;
  const auto whole = reader.parse(api::encode(changed));
  return json::object([&](json::Object& out) {
    out.object("metadata", [&](json::Object& meta) {
      meta.put("uid", agent.meta.uid);
      meta.put("resourceVersion", agent.meta.resource_version);
    });
    out.put_json("status", whole.value()["status"].text());
  });
}

base::Result<DaemonSet> decode(const std::string& body) {
  json::Reader reader;
  const auto object = TRY(reader.parse(body));
  return api::decode_daemon_set(object);
}

// Of the agent's container; others may have added theirs.
api::Resources amounts(const DaemonSet& set) {
  const auto& containers = set.spec.pod.spec.containers;
  const auto agent = std::ranges::find(containers, "agent", &DaemonSet::Container::name);
  return agent != containers.end() ? agent->resources : api::Resources();
}

meta::Time wall() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// What no repetition cures, said in the Agent's status; false: it may pass.
bool take_refusal(const kube::Error& error, intent::RolloutFacts& facts) {
  const std::string said = error.status ? error.status->message : error.message();
  const bool is_policy = said.contains("ValidatingAdmissionPolicy");
  if (is_policy) {
    facts.not_allowed = said;
  } else if (error.fault() == Fault::invalid) {
    facts.invalid = said;
  }
  return is_policy || error.fault() == Fault::invalid;
}

}  // namespace

AgentRollout::AgentRollout(kube::Client& client, RolloutOptions options, kube::Events& events,
                           metrics::Registry& registry)
    : client_(client),
      options_(std::move(options)),
      events_(events),
      metrics_(registry),
      agents_(client, resource_of<Agent>(true), api::decode_agent, changed_) {}

std::optional<std::string> AgentRollout::waiting_for() const {
  return incomplete("agents", *agents_.latest());
}

base::Result<kube::Next> AgentRollout::reconcile(std::stop_token stop) {
  auto next = pass(std::move(stop));
  if (next || next.error().fault() != Fault::conflict) return next;
  // Somebody wrote in between, and the watch is about to tell what: no failure.
  base::log::debug("will look again", {{"err", next.error().message()}});
  return kube::Next::retry();
}

base::Result<kube::Next> AgentRollout::pass(std::stop_token stop) {
  const auto view = agents_.latest();
  if (!view->complete) return kube::Next::on_change();
  if (!view->unknown.empty()) {  // It may be the one that counts.
    const auto& [key, found] = *view->unknown.begin();
    return base::fail(Fault::invalid, fmt::format("Agent {} cannot be read: {}", key.text(), found.why));
  }
  std::vector<const Agent*> agents;
  std::set<std::string> name_spaces;
  for (const auto& object : view->objects) {
    agents.push_back(&object->value);
    name_spaces.insert(object->value.meta.ns);
  }
  follow(name_spaces);
  std::erase_if(refused_, [&](const auto& entry) {
    return std::ranges::none_of(agents, [&](const Agent* agent) { return agent->meta.uid == entry.first; });
  });
  if (!sees_own_writes()) return kube::Next::put_off(kEcho);

  const Agent* active = intent::active_agent(agents, options_.home);
  base::Status retired;
  for (const Agent* agent : agents) {
    if (agent == active || agent->meta.terminating()) continue;
    if (auto done = retire(*agent, active, stop); !done) retired = done;  // The others do not depend on it.
  }
  if (active == nullptr) metrics_.set(nullptr);
  const auto next = active != nullptr ? TRY(roll_out(*active, std::move(stop))) : kube::Next::on_change();
  TRY(retired);
  return next;
}

void AgentRollout::follow(const std::set<std::string>& name_spaces) {
  for (const std::string& ns : name_spaces) {
    auto& sets = sets_[ns];
    if (sets) continue;
    sets = std::make_unique<Sets>(
        client_, kSets, api::decode_daemon_set, changed_,
        kube::Selection{.ns = ns, .label_selector = "", .field_selector = fmt::format("metadata.name={}", kAgentName)});
  }
  std::erase_if(sets_, [&](const auto& entry) { return !name_spaces.contains(entry.first); });
  std::erase_if(set_writes_, [&](const auto& entry) { return !name_spaces.contains(entry.first); });
}

bool AgentRollout::sees_own_writes() {
  return agent_writes_.are_in(*agents_.latest()) && std::ranges::all_of(set_writes_, [&](auto& entry) {
           return entry.second.are_in(*sets_.at(entry.first)->latest());
         });
}

// Its pods are ended with their set, and ask then which Agent counts: so that is told first.
base::Status AgentRollout::retire(const Agent& agent, const Agent* active, std::stop_token stop) {
  const bool shares_set = active != nullptr && active->meta.ns == agent.meta.ns;  // Then the set changes its owner.
  const auto view = sets_.at(agent.meta.ns)->latest();
  const auto* found = view->find(set_key(agent.meta.ns));
  const auto* owner = found != nullptr ? controller_of(found->value) : nullptr;
  const DaemonSet* own = owner != nullptr && owner->uid == agent.meta.uid ? &found->value : nullptr;
  const bool is_seen = view->complete && view->unknown.empty();
  TRY(tell_inactive(agent, active, is_seen ? intent::SeenSet(own) : std::nullopt, stop));
  if (!shares_set && own != nullptr && !own->meta.terminating()) {
    const auto removed = client_.remove(kSets, set_key(agent.meta.ns),
                                        {.uid = own->meta.uid, .resource_version = own->meta.resource_version},
                                        kube::within(kRequestTime, stop), kube::Propagation::background);
    if (!removed && removed.error().fault() != Fault::absent) return std::unexpected(removed.error());
    base::log::info("deleted the DaemonSet of an Agent that does not count", {{"agent", meta::full_name(agent.meta)}});
  }
  return {};
}

base::Status AgentRollout::tell_inactive(const Agent& agent, const Agent* active, intent::SeenSet set,
                                         const std::stop_token& stop) {
  const auto status = intent::inactive_status(agent, active, set, wall());
  const auto refused = refused_.find(agent.meta.uid);
  const Agent::Status& last = refused != refused_.end() ? refused->second.status : agent.status;
  const auto* before = meta::find(last.conditions, "Ready");
  const meta::Condition now = *meta::find(status.conditions, "Ready");
  const bool is_news = before == nullptr || before->reason != now.reason || before->message != now.message;
  TRY(write_status(agent, status, stop));
  if (is_news) tell(agent, kube::NoticeType::warning, now.reason, now.message);
  return {};
}

base::Result<kube::Next> AgentRollout::roll_out(const Agent& agent, std::stop_token stop) {
  const std::string& ns = agent.meta.ns;
  const auto view = sets_.at(ns)->latest();
  intent::RolloutFacts facts;
  if (!view->complete) {
    if (!view->trouble || view->trouble->fault() != Fault::denied) return kube::Next::on_change();
    facts.not_prepared = how_to_prepare(ns, stop);
    TRY(write_status(agent, intent::active_status(agent, std::nullopt, facts, wall()), stop));
    return kube::Next::on_change();  // The watch tries again by itself.
  }
  if (!view->unknown.empty()) {
    return base::fail(Fault::invalid, fmt::format("DaemonSet {}/{} cannot be read: {}", ns, kAgentName,
                                                  view->unknown.begin()->second.why));
  }
  const auto* seen = view->find(set_key(ns));
  const auto found = TRY(put(agent, seen != nullptr ? &seen->value : nullptr, facts, stop));
  const DaemonSet* set = found && !facts.foreign_set ? &*found : nullptr;
  const bool is_ready = set != nullptr && intent::all_ready(*set);
  if (set != nullptr && !is_ready && !facts.not_prepared) {
    TRY(look_for_causes(*set, facts, kube::within(kRequestTime, stop)));
  }
  metrics_.set(set);
  if (serves_policies_ != true) {
    const auto served = kube::is_served(client_, kPolicies, kube::within(kRequestTime, stop));
    if (served) serves_policies_ = *served;
  }
  facts.lacks_policies = serves_policies_ == false;
  const auto status = intent::active_status(agent, set, facts, wall());
  TRY(write_status(agent, status, stop));
  const bool is_done = meta::find(status.conditions, "Ready")->status == meta::Truth::yes;
  return kube::Next::after(is_done ? kResync : base::Duration(kLookAgain));
}

base::Result<std::optional<DaemonSet>> AgentRollout::put(const Agent& agent, const DaemonSet* live,
                                                         intent::RolloutFacts& facts, const std::stop_token& stop) {
  auto as_it_is = live != nullptr ? std::optional(*live) : std::nullopt;
  if (live != nullptr) facts.foreign_set = foreign_owner(*live);
  if (facts.foreign_set || (live != nullptr && live->meta.terminating())) return as_it_is;
  const DaemonSet wanted = intent::agent_daemon_set(agent, options_.image);
  if (live != nullptr && is_settled(*live, wanted)) {
    metrics_.unchanged.add();
    return as_it_is;
  }
  auto stored = apply(wanted, live, kube::within(kRequestTime, stop));
  if (!stored) {
    if (take_refusal(stored.error(), facts)) return as_it_is;
    if (stored.error().fault() != Fault::denied) return std::unexpected(stored.error());
    facts.not_prepared = how_to_prepare(agent.meta.ns, stop);
    return as_it_is;
  }
  amounts_ = Amounts{.wanted = amounts(wanted), .stored = amounts(*stored)};
  const bool is_new = live == nullptr;
  if (!is_new && stored->meta.resource_version == live->meta.resource_version) {
    metrics_.unchanged.add();  // It only looked different.
    return *std::move(stored);
  }
  announce(agent, wanted, is_new);
  return *std::move(stored);
}

void AgentRollout::announce(const Agent& agent, const DaemonSet& wanted, bool is_new) {
  (is_new ? metrics_.created : metrics_.updated).add();
  const std::string& image = wanted.spec.pod.spec.containers.front().image;
  base::log::info(is_new ? "created the agents' DaemonSet" : "updated the agents' DaemonSet",
                  {{"namespace", agent.meta.ns}, {"image", image}});
  tell(agent, kube::NoticeType::normal, is_new ? "DaemonSetCreated" : "DaemonSetUpdated",
       fmt::format("DaemonSet {} runs {}; follow it: kubectl rollout status daemonset/{} -n {}", kAgentName, image,
                   kAgentName, agent.meta.ns));
}

// The server writes amounts in a way of its own ("0.1" cpu is "100m"): what it made of the same wish is as wanted.
bool AgentRollout::is_settled(const DaemonSet& live, DaemonSet wanted) const {
  if (intent::covers(live, wanted)) return true;
  if (!amounts_ || amounts_->wanted != amounts(wanted)) return false;
  wanted.spec.pod.spec.containers.front().resources = amounts_->stored;
  return intent::covers(live, wanted);
}

kube::Result<DaemonSet> AgentRollout::apply(DaemonSet wanted, const DaemonSet* live, const kube::Limit& limit) {
  const kube::Key key = key_of(wanted.meta);
  if (live != nullptr) {
    wanted.meta.uid = live->meta.uid;
    wanted.meta.resource_version = live->meta.resource_version;
    const auto* present = controller_of(*live);
    const bool is_anothers = present != nullptr && present->uid != wanted.meta.owners.front().uid;
    if (is_anothers || !has_our_template(*live, wanted)) {
      TRY(client_.patch(kSets, key, kube::PatchType::merge, encode_transfer(*live, wanted), limit));
      // Its pods' figures change from now on: what follows is for the set in whatever version.
      TRY(client_.patch(kSets, key, kube::PatchType::merge, encode_sole_writer(*live), limit));
      wanted.meta.resource_version.clear();
    }
  }
  // What somebody has made of that name since we looked is theirs: a conflict, and then we look again.
  const auto type = live != nullptr ? kube::PatchType::apply : kube::PatchType::apply_unowned;
  const auto answer = TRY(client_.patch(kSets, key, type, api::encode(wanted), limit));
  set_writes_[key.ns].note(answer);
  return TRY(decode(answer));
}

base::Status AgentRollout::look_for_causes(const DaemonSet& set, intent::RolloutFacts& facts,
                                           const kube::Limit& limit) {
  const std::string& ns = set.meta.ns;
  facts.account_missing = !TRY(has_agent_account(client_, ns, limit));
  if (set.status.current < set.status.desired) {
    facts.pods_forbidden = TRY(why_pods_are_forbidden(client_, ns, set.meta.uid, limit));
  }
  if (set.status.ready >= set.status.desired) return {};
  PodCauses causes = TRY(why_pods_do_not_run(client_, ns, limit));
  facts.image_error = std::move(causes.image_error);
  facts.crashing = std::move(causes.crashing);
  facts.no_place = std::move(causes.no_place);
  facts.silent_node = std::move(causes.silent_node);
  return {};
}

base::Status AgentRollout::write_status(const Agent& agent, const Agent::Status& status, const std::stop_token& stop) {
  if (status == agent.status) return {};
  const auto answer = client_.patch_status(resource_of<Agent>(true), key_of(agent.meta), kube::PatchType::merge,
                                           encode_status(agent, status), kube::within(kRequestTime, stop));
  // An Agent from a time before its name or a field was checked: the server refuses every write to it, this one too.
  if (!answer && answer.error().fault() == Fault::invalid) {
    const std::string said = answer.error().status ? answer.error().status->message : answer.error().message();
    Refused& refused = refused_[agent.meta.uid];
    if (refused.why != said) {
      tell(agent, kube::NoticeType::warning, "StatusRefused",
           fmt::format("the API server takes no status of it: {}; correct it: kubectl edit agent {} -n {}", said,
                       agent.meta.name, agent.meta.ns));
    }
    refused = {.why = said, .status = status};
    return {};
  }
  agent_writes_.note(TRY(answer));
  refused_.erase(agent.meta.uid);
  return {};
}

// The names of an install have one prefix; the account's own name tells it.
std::string AgentRollout::how_to_prepare(const std::string& ns, const std::stop_token& stop) {
  constexpr std::string_view kAccount = "controller-manager";
  const auto me = kube::who_am_i(client_, kube::within(kRequestTime, stop));
  std::string account = me ? me->name.substr(me->name.rfind(':') + 1) : "";
  if (!account.ends_with(kAccount)) account = "ip-rule-operator-controller-manager";
  const std::string prefix = account.substr(0, account.size() - kAccount.size());
  return fmt::format(
      "kubectl create serviceaccount {0} -n {1}; "
      "kubectl create rolebinding {0}-rollout -n {1} --clusterrole={2}agent-rollout-role --serviceaccount={3}:{4}; "
      "kubectl create clusterrolebinding {0}-in-{1} --clusterrole={2}agent-role --serviceaccount={1}:{0}",
      kAgentName, ns, prefix, options_.home, account);
}

void AgentRollout::tell(const Agent& agent, kube::NoticeType type, std::string reason, std::string note) {
  events_.record({.regarding = {std::string(api::kApiVersion), std::string(Agent::kKind), agent.meta.ns,
                                agent.meta.name, agent.meta.uid},
                  .type = type,
                  .reason = std::move(reason),
                  .action = "RollOut",
                  .note = std::move(note)});
}

}  // namespace controller
