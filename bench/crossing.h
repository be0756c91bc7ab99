#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "lab/world.h"
#include "state/net_state.h"

namespace bench {

// A sender and a receiver with a node between them, which steers as it was told to; what crosses it is traffic that
// none of its sources is about, and every packet pays for being looked at. The three are on one CPU: a veth pair hands
// a packet over at once, so the time of a send is the time of the whole way.
class Crossing {
 public:
  static base::Result<std::unique_ptr<Crossing>> build(const state::NetState& steering);

  base::Result<double> packets_per_second();
  base::Result<double> latency_p99();  // Microseconds from a send to the receipt beyond the node.
  base::Result<double> connections_per_second();

 private:
  Crossing() = default;
  base::Status prepare(const state::NetState& steering);
  base::Status open_sockets();

  std::optional<lab::World> world_;
  lab::Host* sender_ = nullptr;
  lab::Host* node_ = nullptr;
  lab::Host* receiver_ = nullptr;
  base::Fd out_;       // UDP, connected to the receiver.
  base::Fd in_;        // UDP, where it arrives.
  base::Fd listener_;  // TCP.
};

}  // namespace bench
