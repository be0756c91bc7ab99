#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>

#include "base/fd.h"

namespace testbed {

// Passes TCP connections on to a port of loopback, as a load balancer or a network between two machines does: it can be
// frozen, cut, and pointed elsewhere. Knows nothing of what it carries. Listens on loopback.
class Relay {
 public:
  explicit Relay(std::uint16_t target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::uint16_t port() const { return port_; }
  unsigned accepted() const { return accepted_; }  // Connections, since the beginning.

  // New connections lead there; those there are break.
  void lead_to(std::uint16_t target);
  // Connections stay, nothing moves on them; new ones are not answered either.
  void freeze() { set_frozen(true); }
  void thaw() { set_frozen(false); }

 private:
  struct Pair {
    base::Fd client;
    base::Fd server;
  };

  void set_frozen(bool frozen);
  void wake();
  void run(const std::stop_token& stop);
  void accept_one();

  base::Fd listener_;
  base::Fd wake_;
  std::uint16_t port_ = 0;
  std::atomic<std::uint16_t> target_;
  std::atomic<bool> frozen_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<unsigned> accepted_ = 0;
  std::list<Pair> pairs_;  // The thread's.
  std::jthread thread_;
};

}  // namespace testbed
