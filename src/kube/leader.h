#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "kube/client.h"
#include "kube/elector.h"

namespace kube {

// Host name and a random part: never the same for two processes.
std::string unique_identity();

// One process's part in the election for a Lease (coordination.k8s.io/v1). The calls that block belong to one thread.
// Its requests are urgent: they do not wait for a turn behind a thousand others of the same client.
//
//   TRY(leader.acquire(stop));       // Start what only the leader does,
//   TRY(leader.hold(stop));          // and end the process when this returns, well or not.
class Leader {
 public:
  Leader(Client& client, Key lease, std::string identity = unique_identity(), const ElectionTiming& timing = {});

  // Returns when this process leads; `cancelled` when stopped before.
  base::Status acquire(std::stop_token stop);

  // Renews until stopped, then releases the lease so that another can take it at once. An error when it was lost.
  base::Status hold(std::stop_token stop);

  // Any thread. Falls to false at the renew deadline by itself, even while every request hangs.
  bool leading() const;

 private:
  class Talk;
  base::Status step(std::stop_token stop);
  Result<std::optional<Lease>> read(const Limit& limit);
  Result<Lease> write(const Lease& lease, const Limit& limit);
  void failed(const Error& error);
  void release();
  void publish();

  Client& client_;
  const Key key_;
  Elector elector_;
  std::string told_;  // The last failure that was logged.
  std::atomic<base::Duration::rep> held_until_;
};

}  // namespace kube
