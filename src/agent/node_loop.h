#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/audit_pace.h"
#include "agent/drift.h"
#include "agent/foreign_watch.h"
#include "agent/repair_log.h"
#include "agent/rule_retries.h"
#include "api/node_state.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/result.h"
#include "intent/node/source_rules.h"
#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "plan/adoption.h"
#include "plan/ownership.h"
#include "runtime/heartbeat.h"
#include "runtime/signal.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace agent {

// What a pass has seen of this node when it asks what is wanted.
struct Sight {
  // Null where it could not be read: nothing can be wanted then, and the source only takes note of what is new to it.
  const state::NetState* kernel = nullptr;
  const state::NodeFacts& facts;
  bool verified = false;  // Nothing is missing from `kernel`.
  base::TimePoint now{};
};

// What this node should have, as far as that is known.
struct Wanted {
  state::NetState state{};
  // Whether that is all of it. While some object cannot be read, nobody knows which of our rules it stands for, so
  // nothing is removed.
  bool whole = true;
  std::vector<api::NodeState::Failed> failed{};  // Objects that are not programmed as they say, each once, by uid.
  std::vector<std::string> warnings{};           // What people should know although it is programmed.
  std::vector<intent::Claim> claims{};           // Which object asks for which rule, in order.
  std::optional<base::TimePoint> look_again{};   // When something else may be wanted although nothing changed.
  std::vector<plan::Heirloom> heirlooms{};       // What an agent of the old project may have left for these objects.
  std::optional<ForeignOrder> foreign_rules{};   // What to do about those of others; nothing where that was not said.
};

// One look at both sides.
struct Pass {
  Wanted wanted{};
  kernel::Engine::Report report{};  // What it came to in the kernel.
  std::size_t own_rules = 0;        // Of ours that stand there now.
  std::size_t repairs = 0;    // Changes made although nothing else was wanted than before: somebody had been there.
  std::size_t held_back = 0;  // Rules of `wanted` that were not tried, because the kernel refused them before.
  std::vector<RefusedRule> refused{};                     // Those, and what it refused now.
  std::vector<api::NodeState::Drifted> drift{};           // What others changed, the latest first;
  std::vector<api::NodeState::Drifted> reported_drift{};  // as the API server hears of it: not at every blow.
  bool drifting = false;                                  // The same repairs, again and again.
  std::vector<state::Rule> foreign{};                     // Those of others that the order is about, as read back.
  std::vector<std::string> missing_baseline{};            // What every host has, and this one not: "IPv4 main".
  state::NodeFacts facts{};                               // As they were when it was asked what is wanted.
  base::Duration took{};
};
// What to do about a missing baseline.
std::string baseline_advice(const Pass& pass);
// Why the kernel is not as wanted, the first cause of it; for a report that is not settled.
std::string first_failure(const kernel::Engine::Report& report);

// Nothing while it is not known what is wanted; an error where the kernel could not be asked.
using Looked = base::Result<std::optional<Pass>>;

struct NodeLoopOptions {
  plan::Ownership ownership{};
  std::chrono::milliseconds audit = std::chrono::seconds(30);  // The backstop, for changes that gave no event.
  // Asked before a pass that would remove most of what stands: whether that was looked at twice.
  std::function<bool()> confirm = [] { return true; };
  runtime::Heartbeat* heartbeat = nullptr;                          // Beaten while it works.
  std::function<void(const Looked&)> after = [](const Looked&) {};  // Told of every pass, on the loop's thread.
};

// Keeps this node's kernel at what is wanted: looks when told that something changed, on either side, and changes only
// the difference. It uses one thread, which alone owns the request socket.
class NodeLoop {
 public:
  // Nothing while it is not known yet: the kernel stays as it is.
  using Source = std::function<std::optional<Wanted>(const Sight&)>;

  // `changed` is raised by whoever knows that Source has something new, and by the kernel's notifications.
  NodeLoop(Source source, runtime::Signal& changed, NodeLoopOptions options = {});

  // Until stopped. Failures are logged when they change and retried with back-off; they never end the loop.
  void run(std::stop_token stop);

  Looked pass(std::stop_token stop);

 private:
  base::Status open_kernel();
  base::Status look_at_node(std::stop_token stop);
  void prepare(Pass& pass, const state::Observation& seen);
  std::vector<state::Rule> handed_over(const Wanted& wanted, const state::NetState& kernel);
  void conclude(Pass& pass, base::TimePoint begun);
  Repairs note_repairs(const Pass& pass, base::TimePoint now);
  base::Status read_facts(std::stop_token stop);
  base::Result<state::Observation> observe(std::stop_token stop);
  base::Result<std::optional<Wanted>> ask(const state::Observation& seen, std::stop_token stop);
  std::chrono::milliseconds until_audit();
  std::chrono::milliseconds look(std::stop_token stop);  // One pass; how long to wait at most for the next.
  void tell(std::string story);

  Source source_;
  runtime::Signal& changed_;
  NodeLoopOptions options_;
  AuditPace audit_;
  base::Backoff backoff_;
  std::optional<kernel::Engine> engine_;
  std::unique_ptr<kernel::Monitor> monitor_;
  state::Capabilities capabilities_;
  state::NodeFacts facts_;
  std::set<std::uint32_t> tables_;  // Those whose routes are among the facts.
  std::optional<base::TimePoint> facts_read_;
  base::TimePoint table_listed_{};
  std::optional<base::TimePoint> look_again_;
  RuleRetries retries_;
  Drift drift_;
  RepairLog repairs_;
  ForeignWatch foreign_;
  std::optional<std::size_t> settled_;  // A fingerprint of what was wanted when all of it was last seen in place.
  std::size_t settled_size_ = 0;        // How much that was when memory was last given back.
  bool leaves_much_ = false;            // The last pass changed so much that it should be again.
  std::string told_;
};

}  // namespace agent
