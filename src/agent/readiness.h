#pragma once

#include <optional>
#include <string>

#include "agent/node_loop.h"
#include "runtime/guarded.h"
#include "runtime/health.h"

namespace agent {

// Whether this node has what it should have: "the process runs" is no answer to that. Written by the loop, read by
// probes.
class Readiness {
 public:
  // Adds its checks; this must outlive `health`.
  void add_to(runtime::Health& health);

  // `node`: why this cannot be the node that it is taken for; nothing where it is, or where that is not known yet.
  // `watch`: why what is published may be other than what is known; that is told, and the node stays ready.
  void note(const Looked& looked, std::optional<std::string> node, std::optional<std::string> watch = {});

 private:
  struct State {
    bool synced = false;  // Once all that is wanted was there.
    std::optional<std::string> node{};
    std::optional<std::string> rules{};
    std::optional<std::string> watch{};
  };
  runtime::Guarded<State> state_;
};

// What the kernel refused, as one word and its own: "NotPermitted: add IPv4 rule ...: EPERM". Nothing where it refused
// nothing.
std::optional<std::string> kernel_trouble(const Looked& looked);

}  // namespace agent
