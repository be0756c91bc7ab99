#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/backoff.h"
#include "base/result.h"
#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "plan/ownership.h"
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
  plan::Ownership ownership{};
  std::chrono::milliseconds audit = std::chrono::seconds(30);  // The backstop, for changes that gave no event.
};

// Keeps this node's kernel at what is wanted: looks when told that something changed, on either side, and changes only
// the difference. It uses one thread, which alone owns the request socket.
class NodeLoop {
 public:
  // Nothing while it is not known yet: the kernel stays as it is.
  using Source = std::function<std::optional<Wanted>()>;

  // `changed` is raised by whoever knows that Source has something new, and by the kernel's notifications.
  NodeLoop(Source source, runtime::Signal& changed, NodeLoopOptions options = {});

  // Until stopped. Failures are logged when they change and retried with back-off; they never end the loop.
  void run(std::stop_token stop);

  // One look at both sides. What it came to, or nothing while it is not known what is wanted.
  using Report = kernel::Engine::Report;
  base::Result<std::optional<Report>> pass(std::stop_token stop);

 private:
  base::Status open_kernel();
  std::chrono::milliseconds look(std::stop_token stop);  // One pass; how long to wait at most for the next.
  void tell(std::string story);

  Source source_;
  runtime::Signal& changed_;
  NodeLoopOptions options_;
  base::Backoff backoff_;
  std::optional<kernel::Engine> engine_;
  std::unique_ptr<kernel::Monitor> monitor_;
  std::string told_;
};

}  // namespace agent
