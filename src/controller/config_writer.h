#pragma once

#include <stop_token>

#include "base/result.h"
#include "controller/own_writes.h"
#include "intent/cluster/changes.h"
#include "kube/client.h"
#include "kube/store.h"

namespace controller {

// Carries out what was decided about IPRuleConfigs. Every write names the state it was decided on.
class ConfigWriter {
 public:
  // Orders to nodes by `client`, what people read by `statuses`.
  ConfigWriter(kube::Client& client, kube::Client& statuses, base::Duration request_time)
      : client_(client), statuses_(statuses), request_time_(request_time) {}

  base::Status write(const intent::Write& write, std::stop_token stop);
  base::Status write_status(const api::IPRuleConfig& config, std::stop_token stop);
  bool is_seen_in(const kube::View<api::IPRuleConfig>& view) { return own_.are_in(view); }

 private:
  kube::Client& client_;
  kube::Client& statuses_;
  const base::Duration request_time_;
  OwnWrites own_;
};

}  // namespace controller
