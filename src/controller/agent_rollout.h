#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "api/agent.h"
#include "api/daemon_set.h"
#include "base/result.h"
#include "controller/own_writes.h"
#include "controller/rollout_metrics.h"
#include "intent/cluster/agent_status.h"
#include "kube/client.h"
#include "kube/events.h"
#include "kube/next.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace controller {

struct RolloutOptions {
  std::string home;   // The operator's own namespace.
  std::string image;  // Of the agents, where the Agent names none.
};

// Runs the agents: one DaemonSet for the one Agent that counts. Rights end at namespaces, so DaemonSets are followed
// where Agents are, each by its name. It follows the API server from its construction on; reconcile() is for one
// thread, the one that leads.
class AgentRollout {
 public:
  AgentRollout(kube::Client& client, RolloutOptions options, kube::Events& events, metrics::Registry& registry);

  runtime::Signal& changed() { return changed_; }
  base::Result<kube::Next> reconcile(std::stop_token stop);

  // Any thread: what has not been seen whole yet, and why; nothing when all of it has.
  std::optional<std::string> waiting_for() const;

 private:
  using Sets = kube::Reflector<api::DaemonSet>;
  struct Amounts {
    api::Resources wanted;
    api::Resources stored;
  };
  struct Refused {  // A status that an Agent could not be given. Both are told, once, by Events.
    std::string why;
    api::Agent::Status status;
  };

  base::Result<kube::Next> pass(std::stop_token stop);
  void follow(const std::set<std::string>& name_spaces);
  bool sees_own_writes();
  base::Status retire(const api::Agent& agent, const api::Agent* active, std::stop_token stop);
  base::Status tell_inactive(const api::Agent& agent, const api::Agent* active, intent::SeenSet set,
                             const std::stop_token& stop);
  base::Result<kube::Next> roll_out(const api::Agent& agent, std::stop_token stop);

  // Makes the DaemonSet as wanted, unless it is; what is there then. What the server refuses for good goes to `facts`.
  base::Result<std::optional<api::DaemonSet>> put(const api::Agent& agent, const api::DaemonSet* live,
                                                  intent::RolloutFacts& facts, const std::stop_token& stop);
  void announce(const api::Agent& agent, const api::DaemonSet& wanted, bool is_new);
  bool is_settled(const api::DaemonSet& live, api::DaemonSet wanted) const;
  kube::Result<api::DaemonSet> apply(api::DaemonSet wanted, const api::DaemonSet* live, const kube::Limit& limit);
  base::Status look_for_causes(const api::DaemonSet& set, intent::RolloutFacts& facts, const kube::Limit& limit);
  base::Status write_status(const api::Agent& agent, const api::Agent::Status& status, const std::stop_token& stop);
  std::string how_to_prepare(const std::string& ns, const std::stop_token& stop);
  void tell(const api::Agent& agent, kube::NoticeType type, std::string reason, std::string note);

  kube::Client& client_;
  const RolloutOptions options_;
  kube::Events& events_;
  const RolloutMetrics metrics_;
  runtime::Signal changed_;
  kube::Reflector<api::Agent> agents_;
  std::map<std::string, std::unique_ptr<Sets>> sets_;  // By namespace.
  std::optional<bool> serves_policies_;                // The server; asked again while it does not: it may be upgraded.
  OwnWrites agent_writes_;
  std::map<std::string, Refused> refused_;       // By an Agent's uid.
  std::map<std::string, OwnWrites> set_writes_;  // By namespace.
  std::optional<Amounts> amounts_;               // What the server made of the last ones we applied.
};

}  // namespace controller
