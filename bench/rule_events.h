#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/events.h"
#include "lab/host.h"
#include "state/rule.h"

namespace bench {

// What happens to our rules in the kernel of a node, heard as notifications: waiting costs nothing and ends at the
// moment itself. One thread.
class RuleEvents {
 public:
  static base::Result<RuleEvents> listen(lab::Host& node);

  // Until a rule for each of these sources has come; what came is remembered.
  base::Status await(std::vector<std::string> sources);
  // Until all that came have gone.
  base::Status await_end();

  // Those that stand there already.
  base::Status read(lab::Host& node);

  const std::vector<state::Rule>& seen() const { return seen_; }

  // Somebody else removes the i-th of those; milliseconds until it is back.
  base::Result<double> repair(lab::Host& node, std::size_t i);

 private:
  explicit RuleEvents(kernel::EventSocket socket) : socket_(std::move(socket)) {}

  template <typename Take, typename Done>
  base::Status follow(Take take, Done done);

  kernel::EventSocket socket_;
  std::vector<state::Rule> seen_;  // As their notifications came.
};

}  // namespace bench
