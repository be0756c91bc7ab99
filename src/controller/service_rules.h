#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "controller/cluster_watch.h"
#include "controller/config_writer.h"
#include "controller/hold_down.h"
#include "controller/own_writes.h"
#include "controller/report_keeper.h"
#include "controller/report_notices.h"
#include "controller/status_pace.h"
#include "controller/unwritten.h"
#include "intent/cluster/decision.h"
#include "intent/cluster/patience.h"
#include "kube/client.h"
#include "kube/events.h"
#include "kube/next.h"
#include "runtime/signal.h"

namespace controller {

// What a pass did and found, for metrics.
struct ServiceRulesFigures {
  // This pass.
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t marked_absent = 0;
  std::uint64_t removed = 0;
  std::uint64_t reports = 0;  // NodeStates made, updated or removed.
  // Now.
  std::uint64_t desired = 0;
  std::uint64_t absent = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t invalid_rules = 0;
  std::uint64_t pending_nodes = 0;  // That some withdrawn object waits for.
};

struct ServiceRulesOptions {
  std::string ns;                                // The operator's own name space.
  std::string instance = "iprule-controller";    // Who speaks in Events: the pod's name.
  std::chrono::milliseconds absent_delay{2000};  // How long an address may be away before its rule goes.
  std::function<void(const ServiceRulesFigures&)> figures = {};  // After each pass that saw everything.
  // How long a pass begins writes, and waits for each; what is left then is for the next. Together with a question
  // before and a status after that, it stays below the two minutes after which it is taken for stuck.
  std::chrono::milliseconds writing_time{20'000};
  std::chrono::milliseconds request_time{30'000};
};

// Job 1, the cluster's side: IPRules and LoadBalancer Services become IPRuleConfig objects, and these go again when
// every node has let them go. Every change of any input is one and the same reason to look at everything again. It
// follows the API server from its construction on; reconcile() is for one thread, the one that leads.
class ServiceRules {
 public:
  // `statuses` carries what people read, statuses and Events: its pace never holds up an order to a node.
  ServiceRules(kube::Client& client, kube::Client& statuses, ServiceRulesOptions options = {});

  runtime::Signal& changed() { return changed_; }  // Raised when there is a reason for a pass.
  base::Result<kube::Next> reconcile(std::stop_token stop);

  // Any thread: what has not been seen whole yet, and why; nothing when all of it has.
  std::optional<std::string> waiting_for() const { return watch_.waiting_for(); }

  // Any thread: what went wrong with a watch after everything had been seen, and how each does.
  std::optional<std::string> trouble() const;
  std::vector<WatchState> watches() const { return watch_.watches(); }

 private:
  // One pass under way.
  struct Work {
    const ClusterSeen& seen;
    intent::Decision decision;
    std::uint32_t default_priority;
    ServiceRulesFigures figures;
    base::TimePoint start;
    base::TimePoint writes_until{};    // Begun before this; the others are for the next pass.
    base::TimePoint statuses_until{};  // The same for those.
    bool is_left = false;              // Something is.
    int failed = 0;
    std::string first_error;
  };

  bool sees_own_writes(const ClusterSeen& seen);
  base::Result<Work> decide(const ClusterSeen& seen, base::TimePoint start, std::stop_token stop);
  void write_states(Work& work, const std::stop_token& stop);
  void write_late_states(Work& work, const std::stop_token& stop);
  void write_state(Work& work, const intent::NodeStateWrite& one, const std::stop_token& stop);
  void write_configs(Work& work, const std::stop_token& stop);
  void write_config_statuses(Work& work, const std::stop_token& stop);
  void write_rule_statuses(Work& work, const std::stop_token& stop);
  bool may_write(Work& work, const std::stop_token& stop) const;
  bool may_write_status(Work& work, const std::stop_token& stop) const;
  base::Duration time_to_next(const Work& work, std::optional<base::TimePoint> due) const;
  static void log_changes(const Work& work);
  void announce_findings(const Work& work);
  void announce_blindness(const Work& work, std::set<std::string>& found);
  void announce(std::set<std::string>& found, std::string key, kube::Notice notice);
  bool note(Work& work, const base::Status& written, std::string_view kind, std::string_view step,
            const std::string& name);

  const ServiceRulesOptions options_;
  runtime::Signal changed_;
  kube::Client& statuses_;
  ClusterWatch watch_;
  ConfigWriter configs_;
  ReportKeeper reports_;
  OwnWrites rule_writes_;
  HoldDown hold_down_;
  Unwritten unwritten_;
  intent::Patience patience_;
  StatusPace pace_;
  std::set<std::string> announced_;  // What has been told, until it is no longer true.
  ReportNotices report_notices_;
  kube::Events events_;
  base::TimePoint last_pass_{};
};

}  // namespace controller
