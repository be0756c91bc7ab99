#pragma once

#include <optional>
#include <string>

#include "api/daemon_set.h"
#include "meta/meta.h"

namespace controller {

// Whose the agents' DaemonSet is, and how one of somebody else becomes ours.

const meta::OwnerReference* controller_of(const api::DaemonSet& set);  // nullptr: nobody's.

// Whose it is, when it is not ours: another controller's, or nobody's and without our label.
std::optional<std::string> foreign_owner(const api::DaemonSet& set);

// A template that we have not written yet has no such label: agents of the old project are told from ours by it.
bool has_our_template(const api::DaemonSet& live, const api::DaemonSet& wanted);

// A patch that makes the set of somebody else ours: an apply cannot, for it leaves the owner that another wrote, and
// each field of another that we do not name, as an old probe of a port that nobody serves. It brings the whole spec
// along, because policies judge what a write results in: a set of the old project may be one that they would refuse.
// Where the spec is as wanted already, pods stay as they are.
std::string encode_transfer(const api::DaemonSet& live, const api::DaemonSet& wanted);

// Then nobody but our applies has written any of it: what they cease to name goes, though an update wrote it too, be it
// another's or the one above. (A list without entries would not do: the server takes it for an object of an unknown
// writer, who keeps all of it.)
std::string encode_sole_writer(const api::DaemonSet& live);

}  // namespace controller
