#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/backoff.h"
#include "base/result.h"
#include "kernel/engine.h"
#include "runtime/signal.h"
#include "state/net_state.h"

namespace agent {

// What this node should have, as far as that is known.
struct Wanted {
  state::NetState state{};
  // Whether that is all of it. While some object cannot be read, nobody knows which of our rules it stands for, so
  // nothing is removed.
  bool whole = true;
};

struct NodeLoopOptions {
  std::chrono::milliseconds audit = std::chrono::seconds(30);  // The backstop, for changes that gave no event.
};

// Keeps this node's kernel at what is wanted: looks when told that something changed, on either side, and changes only
// the difference. Blocks one thread, which alone owns the netlink sockets. Failures are logged when they change and
// retried with back-off; they never end the loop.
class NodeLoop {
 public:
  using Options = NodeLoopOptions;
  // Nothing while it is not known yet: the kernel stays as it is.
  using Source = std::function<std::optional<Wanted>()>;

  NodeLoop(plan::Ownership ownership, Source source, runtime::Signal& changed, Options options = {});

  void run(std::stop_token stop);

  // One look at both sides; what it left undone, or nothing while it is not known what is wanted.
  base::Result<std::optional<kernel::Engine::Report>> pass(std::stop_token stop);

 private:
  base::Status ensure_engine();
  std::chrono::milliseconds next_look(std::stop_token stop);
  void tell(const std::string& story);

  plan::Ownership ownership_;
  Source source_;
  runtime::Signal& changed_;
  Options options_;
  base::Backoff backoff_;
  std::optional<kernel::Engine> engine_;
  std::string told_;
};

}  // namespace agent
