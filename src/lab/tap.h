#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "lab/host.h"
#include "net/address.h"

namespace lab {

// Sees every IP packet that passes a link, both ways, from its opening on. One thread at a time.
class Tap {
 public:
  struct Packet {
    net::Address source;
    net::Address destination;
    bool outgoing = false;          // Sent by the host of the tap, not received.
    std::uint16_t source_port = 0;  // Of TCP and UDP; else 0.
    std::uint16_t destination_port = 0;
  };

  static base::Result<Tap> open(const Host& host, std::string_view link);

  // All packets so far, oldest first. An error if the kernel had to drop some: the count would be wrong.
  base::Result<std::vector<Packet>> take();

  int fd() const { return socket_.get(); }  // Readable when there is a packet to take.

 private:
  explicit Tap(base::Fd socket) : socket_(std::move(socket)) {}

  base::Fd socket_;
};

}  // namespace lab
