#pragma once

#include <optional>
#include <set>
#include <utility>

#include "base/result.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/decision.h"
#include "net/address.h"

namespace controller {

// What was decided about IPRuleConfigs and could not be written: what it would replace waits for it, and the next
// decision says so.
class Unwritten {
 public:
  void begin_pass();
  void note(const intent::Write& write, const base::Status& written);
  void end_pass_early();  // What was not tried again is as it was.

  // Whether a withdrawal would leave a source without a rule: what steers now stays until there is something instead.
  bool holds_back(const intent::Write& write) const;

  // Whether this pass wrote what had failed before: what was decided from that no longer holds.
  bool is_outdated() const { return is_outdated_; }
  const intent::FailedWrites& failed() const { return failed_; }

 private:
  // What two objects have in common of which one replaces the other.
  using Steered = std::pair<api::SourceMode, std::optional<net::Address>>;
  static Steered steered_by(const api::IPRuleConfig& config);

  intent::FailedWrites failed_;
  intent::FailedWrites before_;  // In the last pass, and not tried yet in this one.
  std::set<Steered> not_come_;   // This pass was to bring it.
  bool is_outdated_ = false;
};

}  // namespace controller
