#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

struct mnl_socket;

namespace kernel {

enum class Bus : std::uint8_t { route, netfilter };

// A bound netlink socket and the one fixed buffer it reads into. It belongs to the network namespace that was current
// when it was opened. One thread at a time uses it.
class Endpoint {
 public:
  static base::Result<Endpoint> open(Bus bus);

  int fd() const;
  std::uint32_t port() const;  // Events that this socket causes carry it.

  base::Status set_option(int level, int option, int value);
  base::Status send(std::span<const std::byte> bytes);

  // One datagram of the kernel, a view into the buffer until the next call; nothing when none came by the deadline
  // (or at once, without one). A lost datagram is Fault::unavailable with ENOBUFS.
  base::Result<std::optional<std::span<const std::byte>>> receive(std::optional<base::TimePoint> deadline);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  explicit Endpoint(std::unique_ptr<mnl_socket, Close> socket);

  bool wait_readable(base::TimePoint deadline) const;

  std::unique_ptr<mnl_socket, Close> socket_;
  std::vector<std::byte> buffer_;
};

}  // namespace kernel
