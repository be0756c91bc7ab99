#pragma once

#include <cstdint>
#include <vector>

#include "api/node_state.h"
#include "meta/time.h"

namespace intent {

// How far an agent has come with the objects of one kind.
struct Progress {
  bool is_complete = false;         // A whole list was seen, and the watch has followed since.
  bool is_verified = false;         // The kernel was read back, undisturbed, after the last change was applied.
  std::uint64_t version = 0;        // The newest the stream has delivered, bookmarks included.
  std::uint64_t largest_epoch = 0;  // Of the objects in view.
  std::vector<api::NodeState::Failed> failed;  // By uid.
};

// What the agent should state next under its token; equal to `last` where there is nothing new to say, so that a quiet
// system writes nothing. A number is stated only for what was read back; without one, failures are told all the same,
// and none is taken back. With more failures than a report can list, it stays where it was: whoever is not listed would
// else count as settled.
//
// A new token begins with an empty `last` and a new list: what was seen before it may come from a storage that has
// since been restored to an earlier state, whose numbers then mean other writes.
api::NodeState::Settled next_report(const api::NodeState::Settled& last, const Progress& progress);

// The whole report: `found` with how far the agent has come with IPRuleConfigs. `found` has no times, no `settled`, and
// conditions as they should read; times follow from `last` and `now`. Equal to `last` where there is nothing new. Texts
// are cut to what the schema takes.
api::NodeState::Status next_status(const api::NodeState::Status& last, api::NodeState::Status found,
                                   const Progress& progress, meta::Time now);

}  // namespace intent
