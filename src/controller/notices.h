#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/agent.h"
#include "controller/waiting.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/decision.h"
#include "kube/event_journal.h"
#include "kube/store.h"

// What people hear about the objects of this job. Each note names the next thing to do.
namespace controller {

// About a write that was done; `missing`: the nodes a removal no longer waited for.
std::optional<kube::Notice> notice_of(const intent::Write& write, const std::vector<std::string>& missing);

// About statuses that were written, where they say something new.
std::vector<kube::Notice> notices_of(const intent::ConfigStatusWrite& write, const api::IPRuleConfig::Status& before);
std::vector<kube::Notice> notices_of(const intent::RuleStatusWrite& write, std::uint32_t default_priority);

kube::Notice notice_of(const intent::ServiceFinding& finding);

// About an object of this kind that is there and cannot be decoded.
kube::Notice notice_of_unreadable(kube::ObjectReference kind, const kube::Key& key, const kube::Unreadable& what);

// About a watch that the controller no longer has the right to; told on the Agent.
kube::Notice notice_of_denied(const api::Agent& agent, const WatchState& watch);

}  // namespace controller
