#include "kernel/netlink/socket.h"

#include <algorithm>
#include <cerrno>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/netlink/ack.h"

namespace kernel {
namespace {

// Requests in flight. The kernel does them inside send() and queues one ack each, of which the default receive buffer
// holds some 250.
constexpr std::size_t kWindow = 128;
constexpr std::size_t kWindowBytes = std::size_t{64} << 10U;

std::unexpected<base::Error> unfit() {
  return base::fail(base::Fault::invalid, "request does not fit into a netlink message");
}

// Nobody but the machine's administrator can do anything about it.
std::unexpected<base::Error> too_long(const base::Error& error, std::size_t bytes) {
  return base::fail(
      error.fault(),
      fmt::format("{}: one transaction of {} bytes; without CAP_NET_ADMIN on the machine itself it may have "
                  "twice net.core.wmem_max: raise that",
                  error.message(), bytes),
      error.errno_value());
}

}  // namespace

base::Result<Socket> Socket::open(Bus bus, std::chrono::milliseconds patience) {
  Endpoint endpoint = TRY(Endpoint::open(bus));
  TRY(endpoint.set_option(SOL_NETLINK, NETLINK_EXT_ACK, 1));
  TRY(endpoint.set_option(SOL_NETLINK, NETLINK_CAP_ACK, 1));
  if (bus == Bus::route) TRY(endpoint.set_option(SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1));
  return Socket(std::move(endpoint), patience);
}

// A dump that was not read to its end goes on, and the kernel answers the next one with EBUSY; every read makes it
// queue more, so that it is over when there is nothing left.
base::Status Socket::send(std::span<const std::byte> requests) {
  while (has_unread_) has_unread_ = TRY(endpoint_.receive(std::nullopt)).has_value();
  TRY(endpoint_.send(requests));
  has_unread_ = true;
  return {};
}

base::Result<std::span<const std::byte>> Socket::receive() {
  const auto datagram = TRY(endpoint_.receive(std::chrono::steady_clock::now() + patience_));
  if (!datagram) return base::fail(base::Fault::timeout, "the kernel did not answer in time");
  return *datagram;
}

base::Status Socket::transact(Message message, const Visit& visit) {
  if (!message.fits()) return unfit();
  message.stamp(++sequence_, NLM_F_ACK);
  TRY(send(message.bytes()));
  base::Status visited;
  while (true) {
    std::span<const std::byte> rest = TRY(receive());
    while (!rest.empty()) {
      const Received received = TRY(next_message(rest));
      if (received.sequence != sequence_) continue;  // A late answer to a request that was given up.
      if (received.type == NLMSG_ERROR) {
        has_unread_ = false;
        TRY(decode_answer(received));
        return visited;
      }
      if (visit && visited) visited = visit(received);
    }
  }
}

std::vector<base::Status> Socket::transact_all(std::span<Message> messages, std::stop_token stop) {
  std::vector<base::Status> out(messages.size());
  std::size_t done = 0;
  while (done < messages.size() && !stop.stop_requested()) {
    done += transact_window(messages.subspan(done), std::span(out).subspan(done));
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(done), out.end(),
            base::fail(base::Fault::cancelled, "stopped before this request"));
  return out;
}

std::size_t Socket::transact_window(std::span<Message> messages, std::span<base::Status> out) {
  const std::uint32_t first = sequence_ + 1;
  std::vector<std::byte> batch;
  std::vector<bool> answered;
  for (Message& message : messages) {
    const auto bytes = message.bytes();
    if (!answered.empty() && (answered.size() == kWindow || batch.size() + bytes.size() > kWindowBytes)) break;
    message.stamp(++sequence_, NLM_F_ACK);
    answered.push_back(!message.fits());
    if (message.fits()) {
      batch.resize(NLMSG_ALIGN(batch.size()));
      batch.insert(batch.end(), bytes.begin(), bytes.end());
    } else {
      out[answered.size() - 1] = unfit();
    }
  }
  const std::size_t count = answered.size();
  base::Status status = batch.empty() ? base::Status{} : send(batch);
  if (status) status = collect_acks(first, out.first(count), answered);
  for (std::size_t i = 0; i < count; ++i) {
    if (!answered[i]) out[i] = status;
  }
  return count;
}

base::Status Socket::collect_acks(std::uint32_t first, std::span<base::Status> out, std::vector<bool>& answered) {
  auto missing = std::ranges::count(answered, false);
  while (missing > 0) {
    std::span<const std::byte> rest = TRY(receive());
    while (!rest.empty()) {
      const Received received = TRY(next_message(rest));
      const std::size_t index = received.sequence - first;
      if (received.type != NLMSG_ERROR || index >= out.size() || answered[index]) continue;
      out[index] = decode_answer(received);
      answered[index] = true;
      --missing;
    }
  }
  has_unread_ = false;
  return {};
}

base::Status Socket::transact_whole(std::span<Message> messages, std::size_t answered) {
  const std::uint32_t first = sequence_ + 1;
  std::vector<std::byte> batch;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].fits()) return unfit();
    messages[i].stamp(++sequence_, i == answered ? NLM_F_ACK : 0);
    const auto bytes = messages[i].bytes();
    batch.insert(batch.end(), bytes.begin(), bytes.end());
    batch.resize(NLMSG_ALIGN(batch.size()));
  }
  // Root of a user namespace may not go beyond the machine's limit.
  if (const auto size = static_cast<int>(batch.size()); batch.size() > kWindowBytes) {
    const base::Status forced = endpoint_.set_option(SOL_SOCKET, SO_SNDBUFFORCE, size);
    if (!forced) TRY(endpoint_.set_option(SOL_SOCKET, SO_SNDBUF, size));
  }
  const base::Status sent = send(batch);
  if (!sent) return sent.error().errno_value() == EMSGSIZE ? base::Status(too_long(sent.error(), batch.size())) : sent;
  // A refusal, of whichever message, comes before the answer that was asked for. More of them may follow, unread.
  while (true) {
    std::span<const std::byte> rest = TRY(receive());
    while (!rest.empty()) {
      const Received received = TRY(next_message(rest));
      if (received.type == NLMSG_ERROR && received.sequence - first < messages.size()) return decode_answer(received);
    }
  }
}

base::Result<Socket::Dump> Socket::dump(Message message, const Visit& visit) {
  if (!message.fits()) return unfit();
  message.stamp(++sequence_, NLM_F_DUMP);
  TRY(send(message.bytes()));
  Dump seen;
  base::Status visited;
  while (true) {
    std::span<const std::byte> rest = TRY(receive());
    while (!rest.empty()) {
      const Received received = TRY(next_message(rest));
      if (received.sequence != sequence_) continue;
      seen.interrupted = seen.interrupted || (received.flags & NLM_F_DUMP_INTR) != 0;
      seen.filtered = seen.filtered || (received.flags & NLM_F_DUMP_FILTERED) != 0;
      if (received.type == NLMSG_DONE || received.type == NLMSG_ERROR) {
        has_unread_ = false;
        TRY(decode_answer(received));
        TRY(std::move(visited));
        return seen;
      }
      if (visited) visited = visit(received);  // The rest is still read: the kernel refuses a second dump until then.
    }
  }
}

}  // namespace kernel
