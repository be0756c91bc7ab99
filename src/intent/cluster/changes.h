#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/iprule_config.h"
#include "intent/cluster/desired.h"
#include "meta/time.h"

namespace intent {

// One write to the API server. Updates and deletes carry the uid and version of the object they were decided on in
// `object.meta`: if somebody else was faster they fail, and the next pass decides again.
struct Write {
  enum class Step {
    create,      // Something is desired that no object says.
    repair,      // It is there, but label, owners, annotations or hash are not right.
    reactivate,  // It was being withdrawn and is desired again: one write, all old acknowledgements gone.
    withdraw,    // It is no longer desired: nodes are told to remove the rule.
    restart,     // A controller of the old project withdrew it: the waiting begins anew.
    remove,      // No node holds it any more (or may be waited for any longer): the object goes.
  };
  Step step = Step::create;
  api::IPRuleConfig object;
  bool is_replaced = false;    // withdraw: something else is desired for the same source.
  bool is_in_the_way = false;  // withdraw: of what comes for that source, or stands at its priority; so it cannot wait.
  bool is_drift = false;       // repair, reactivate, withdraw: somebody had changed by hand what is ours.
  bool is_new_spec = false;    // repair: nodes have something to do; else it concerns metadata only.
};

std::string_view text(Write::Step step);

// How objects go away.
class Removal {
 public:
  virtual ~Removal() = default;
  // Whether nodes must be told before an object is removed; if not, removing the object is telling them.
  virtual bool withdraws_first() const = 0;
  // Whether a withdrawn object may go now.
  virtual bool is_settled(const api::IPRuleConfig& withdrawn) const = 0;
};

// Agents remove what no object asks for any more, so an object may simply go.
class DirectRemoval final : public Removal {
 public:
  bool withdraws_first() const override { return false; }
  bool is_settled(const api::IPRuleConfig&) const override { return true; }
};

// The writes that turn what exists into what is desired, in the order to try them: what nodes need first, removals
// last. They do not depend on each other, so one that fails must not stop the others. `existing` has every
// IPRuleConfig, also those that are not ours, and `unread` the names of those that cannot be read: both are never
// touched, but their names are taken. Pure and independent of the order of its input; a desired tuple is never
// withdrawn; for equal input after the writes it returns nothing.
std::vector<Write> changes(std::span<const api::IPRuleConfig* const> existing, std::span<const std::string> unread,
                           const Desired& desired, std::uint32_t default_priority, const Removal& removal,
                           meta::Time now);

// Nodes are to let go of it, and say when they have. `absent` beside a hash is somebody's edit, which agents do not
// obey.
bool is_withdrawn(const api::IPRuleConfig& config);

// For each desired object, in order, the one that says it now; nullptr where there is none.
std::vector<const api::IPRuleConfig*> find_published(std::span<const api::IPRuleConfig* const> existing,
                                                     const Desired& desired, std::uint32_t default_priority);

// What an object says, or nothing where it can mean no rule (no address, no table).
std::optional<Tuple> tuple_of(const api::IPRuleConfig& config, std::uint32_t default_priority);

}  // namespace intent
