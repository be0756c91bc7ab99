#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/iprule_config.h"
#include "api/node_state.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/node_states.h"
#include "intent/cluster/patience.h"
#include "meta/time.h"
#include "net/address.h"

namespace intent {

// Whether the node's report covers the object's present generation: the report answers the token it was given, has come
// as far as the object's epoch, and does not list the object as failed. Valid for a withdrawn object ("the rule is gone
// here") across a restart of the node, because no restart makes rules.
bool acknowledges(const api::NodeState& report, const api::IPRuleConfig& config);

// The answer that agents of the old project leave on a withdrawn object; from a node that runs one of ours it is none.
// The controller strips it at every turn.
bool is_marked_clean(const api::IPRuleConfig& config, std::string_view node);

// How far the report goes, whether it counts or not; 0 where it says nothing.
std::uint64_t stated_epoch(const api::NodeState& report);

// Agents of the old project skip such an object, so nothing of it is ever on their nodes.
bool is_skipped_by_old_agents(const api::IPRuleConfig::Spec& spec);

// A node that may hold something of ours.
struct Holder {
  std::string_view name;
  const api::NodeState* state = nullptr;  // None yet: the node may hold anything.
  const api::Node* node = nullptr;        // None: it is gone, or not seen yet.
  const api::Pod* pod = nullptr;          // Its agent, a ready one before others; none: it runs none now.

  bool runs_old_agent() const { return pod != nullptr && !pod->reports; }
  bool runs_our_agent() const { return pod != nullptr && pod->reports; }

  // From the above, once.
  std::uint64_t reach = 0;           // How far its report goes; 0 where it counts for nothing.
  bool is_asked = false;             // Its word about present objects is expected.
  bool is_since_last_start = false;  // What a node held before it started anew says nothing about now.
};

// The entry of the node's report that says why it failed with this generation of the object; nullptr where there is
// none. One of another generation tells nothing of why this one is not there, or not gone.
const api::NodeState::Failed* failure_of(const Holder& holder, const api::IPRuleConfig& config);

// What the nodes say, at one instant. To ask about one object of ten thousand is cheap while all is well.
//
// Which nodes are asked is never taken from labels, selectors or pods of the moment: a node that was deselected, or
// whose agent died, still has its kernel. A node counts from its first agent on, whether its report exists already or
// not, until its report is removed.
class NodeReports {
 public:
  // `bare`: nodes on which an agent should run, and none does.
  explicit NodeReports(const AgentPlaces& places, std::span<const api::Node* const> bare = {});

  // A withdrawn object: no node holds it any more, as far as nodes have said.
  bool is_clean(const api::IPRuleConfig& withdrawn) const { return missing(withdrawn).empty(); }
  // Those that have not said so, by name; at last what cannot be seen.
  std::vector<std::string> missing(const api::IPRuleConfig& withdrawn) const;

  // A present object: of the nodes it selects that run an agent, those that have not stated since their last start that
  // they hold it. Agents of the old project state nothing and are left out.
  std::vector<const Holder*> not_applied(const api::IPRuleConfig& present) const;

  // The nodes a selector picks.
  struct Audience {
    std::size_t picked = 0;
    std::size_t asked = 0;          // They run an agent, and it answers.
    std::size_t old = 0;            // With an agent of the old project, which could not.
    std::vector<std::string> bare;  // By name: an agent should run there, and none does.
  };
  const Audience& audience(const meta::Labels& selector) const;

  // Of the nodes that are asked and that the object selects, those where its table has no route of its family.
  std::vector<const Holder*> without_routes(const api::IPRuleConfig& present) const;

  const std::vector<Holder>& holders() const { return holders_; }  // By name.
  // In words, where agents may run that nobody is asked about: while there are any, no agent is known to be missing.
  const std::vector<std::string>& unseen_agents() const { return unseen_agents_; }

 private:
  // All nodes have come at least this far, and this object is not among the failed.
  bool is_past(const api::IPRuleConfig& config, std::uint64_t floor) const;
  bool is_past(const api::IPRuleConfig& config, std::uint64_t wanted, const Holder& holder) const;

  std::vector<Holder> holders_;
  std::vector<const api::Node*> nodes_;
  std::vector<const api::Node*> bare_;
  std::vector<std::string> unseen_agents_;
  std::vector<std::string> unread_reports_;
  std::uint64_t floor_ = 0;          // Up to here every holder's report goes.
  std::uint64_t present_floor_ = 0;  // The same for agents that run and report, since the node's last start.
  std::unordered_map<std::string_view, int> failed_;  // Objects that some report lists as failed.
  using Positions = std::vector<std::size_t>;         // Of holders.
  std::map<std::pair<std::uint32_t, net::Family>, Positions> empty_tables_;
  std::map<std::pair<std::string_view, net::Family>, Positions> empty_vrfs_;  // By device, whose table is each node's.
  mutable std::map<meta::Labels, Audience> audiences_;
};

// Objects go when every node that may hold their rule has said that it does not, or after a time.
//
// That time is counted twice, and both must be over: by the clock of the wall, from when the object was withdrawn, and
// by `patience`, from when this process first saw it withdrawn. So no clock that is set forward deletes anything early.
// One that is set back delays nothing either: where the object seems to be withdrawn in the future, patience decides.
class AwaitNodes final : public Removal {
 public:
  AwaitNodes(const NodeReports& reports, Patience& patience, meta::Time now, std::chrono::seconds timeout)
      : reports_(reports), patience_(patience), now_(now), timeout_(timeout) {}

  bool withdraws_first() const override { return true; }
  bool is_settled(const api::IPRuleConfig& withdrawn) const override {
    return is_overdue(withdrawn) || reports_.is_clean(withdrawn);
  }

  // It has waited long enough, whoever is missing. Ask in every pass: what is not asked about is seen anew.
  bool is_overdue(const api::IPRuleConfig& withdrawn) const;
  meta::Time waits_until(const api::IPRuleConfig& withdrawn) const;  // By the clock of the wall.

 private:
  const NodeReports& reports_;
  Patience& patience_;
  meta::Time now_;
  std::chrono::seconds timeout_;
};

}  // namespace intent
