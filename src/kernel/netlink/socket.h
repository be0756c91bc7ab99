#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/endpoint.h"
#include "kernel/netlink/message.h"

namespace kernel {

// A netlink socket for requests, with extended acks and strict checking on. It belongs to the network namespace that
// was current when it was opened. One thread at a time uses it.
//
// Errors: Fault::kernel, absent, conflict, denied or unavailable with errno and the kernel's own words; Fault::timeout
// when an answer did not come in time, after which the socket is of no more use: what it still receives is unknown.
// After any other error it goes on: what was left unread of the answer is thrown away before the next request.
class Socket {
 public:
  using Visit = std::function<base::Status(const Received&)>;

  static base::Result<Socket> open(Bus bus, std::chrono::milliseconds patience = std::chrono::seconds(10));

  std::uint32_t port() const { return endpoint_.port(); }  // The events we cause carry this number.

  // One request, one answer. What the kernel sends before the ack (for RTM_GETLINK and its like, or with NLM_F_ECHO)
  // goes to `visit`.
  base::Status transact(Message message, const Visit& visit = {});

  // Many requests, pipelined; the i-th status is the i-th message's. A refused one stops no other. Fault::cancelled
  // was not sent; Fault::timeout and unavailable may have been done.
  std::vector<base::Status> transact_all(std::span<Message> messages, std::stop_token stop = {});

  // All of them in one datagram, which the kernel does as a whole or not at all: a batch of nfnetlink, with what
  // begins and ends it. The one at `answered` is asked for an answer, which is good only if all were done. Root of a
  // user namespace may send no more than twice the machine's net.core.wmem_max at once, some 7,000 elements by default;
  // what is longer fails with EMSGSIZE and says so.
  base::Status transact_whole(std::span<Message> messages, std::size_t answered);

  struct Dump {
    bool interrupted = false;  // NLM_F_DUMP_INTR: the table changed meanwhile, so this is no view of it.
    bool filtered = false;     // NLM_F_DUMP_FILTERED: the kernel applied the filter of the request.
  };
  // All objects that match the request. An error of `visit` ends the visits and is returned.
  base::Result<Dump> dump(Message message, const Visit& visit);

 private:
  Socket(Endpoint endpoint, std::chrono::milliseconds patience) : endpoint_(std::move(endpoint)), patience_(patience) {}

  base::Status send(std::span<const std::byte> requests);
  // The next datagram that is about anything we still wait for; silence is Fault::timeout.
  base::Result<std::span<const std::byte>> receive();
  // Sends as many as fit a window from the front and fills their statuses in; returns how many.
  std::size_t transact_window(std::span<Message> messages, std::span<base::Status> out);
  base::Status collect_acks(std::uint32_t first, std::span<base::Status> out, std::vector<bool>& answered);

  Endpoint endpoint_;
  std::chrono::milliseconds patience_;
  std::uint32_t sequence_ = 0;
  bool has_unread_ = false;  // An answer, or the rest of one that was given up in the middle.
};

}  // namespace kernel
