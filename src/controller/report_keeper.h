#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "api/node_state.h"
#include "base/clock.h"
#include "base/result.h"
#include "controller/cluster_watch.h"
#include "controller/own_writes.h"
#include "intent/cluster/node_states.h"
#include "intent/cluster/report_trust.h"
#include "kube/client.h"
#include "kube/store.h"

namespace controller {

// Makes, updates and removes NodeStates, and notices when the numbers in them can no longer be believed.
class ReportKeeper {
 public:
  ReportKeeper(kube::Client& client, base::Duration request_time) : client_(client), request_time_(request_time) {}

  // Names of the reports that can no longer be believed; asks the server where our view cannot tell.
  base::Result<std::vector<std::string>> find_distrusted(const ClusterSeen& seen, std::stop_token stop);

  base::Status write(const intent::NodeStateWrite& write, std::stop_token stop);
  // Whether the server took the same not long ago and changed nothing: it knows an older NodeState than we do, and
  // leaves out what that lacks.
  bool is_futile(const intent::NodeStateWrite& write) const;
  bool is_seen_in(const kube::View<api::NodeState>& view) { return own_.are_in(view); }

 private:
  struct Futile {
    std::vector<meta::OwnerReference> owners;
    api::NodeState::Spec spec;
    base::TimePoint at;
  };

  base::Result<bool> is_node_there(const api::NodeState& state, const kube::Limit& limit);
  base::Result<std::uint64_t> newest_version(const kube::Limit& limit);  // Of IPRuleConfigs.
  void note_update(const api::NodeState& wanted, const std::string& answer);

  kube::Client& client_;
  const base::Duration request_time_;
  OwnWrites own_;
  std::map<std::string, Futile> futile_;  // By name.
  intent::ReportTrust trust_;
};

std::string random_token();

}  // namespace controller
