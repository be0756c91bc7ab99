#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "api/node_state.h"
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
  bool is_seen_in(const kube::View<api::NodeState>& view) { return own_.are_in(view); }

 private:
  base::Result<bool> is_node_there(const api::NodeState& state, const kube::Limit& limit);
  base::Result<std::uint64_t> newest_version(const kube::Limit& limit);  // Of IPRuleConfigs.

  kube::Client& client_;
  const base::Duration request_time_;
  OwnWrites own_;
  intent::ReportTrust trust_;
};

std::string random_token();

}  // namespace controller
