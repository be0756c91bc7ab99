#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "lab/host.h"
#include "net/address.h"

namespace lab {

constexpr std::uint16_t kServicePort = 8080;

// A UDP socket of a host, bound to an address and port.
base::Result<base::Fd> bind_udp(const Host& host, const net::Address& address, std::uint16_t port);
base::Status connect_udp(const base::Fd& socket, const net::Address& address, std::uint16_t port);

// A TCP socket of a host that listens on an address and port; and one that has begun to connect, from an address and a
// port of the host.
base::Result<base::Fd> listen_tcp(const Host& host, const net::Address& address, std::uint16_t port);
base::Result<base::Fd> connect_tcp(const Host& host, const net::Address& from, std::uint16_t from_port,
                                   const net::Address& to, std::uint16_t port);

// Sends every datagram, and whatever comes over a connection, back to where it came from. Runs a thread of its own.
class Responder {
 public:
  static base::Result<Responder> start(std::vector<base::Fd> datagrams, std::vector<base::Fd> listeners = {});
  Responder(Responder&&) = default;
  Responder& operator=(Responder&&) = delete;
  ~Responder();

 private:
  Responder(base::Fd stop, std::thread thread) : stop_(std::move(stop)), thread_(std::move(thread)) {}

  base::Fd stop_;
  std::thread thread_;
};

}  // namespace lab
