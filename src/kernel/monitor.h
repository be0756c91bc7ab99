#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/events.h"
#include "kernel/nft/watch.h"
#include "runtime/signal.h"

namespace kernel {

// Kinds of kernel objects, as a set.
enum class Kind : std::uint8_t {
  rule = 1,
  route = 2,
  link = 4,
  address = 8,
  nexthop = 16,
  nft = 32,      // Our table, or something in it.
  setting = 64,  // Of a link: rp_filter, forwarding.
};

class Kinds {
 public:
  Kinds() = default;
  Kinds(std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds) add(kind);
  }
  static Kinds all() {
    return {Kind::rule, Kind::route, Kind::link, Kind::address, Kind::nexthop, Kind::nft, Kind::setting};
  }
  static Kinds of_bits(std::uint8_t bits) {
    Kinds out;
    out.bits_ = bits;
    return out;
  }

  void remove(Kind kind) { bits_ = static_cast<std::uint8_t>(bits_ & ~static_cast<std::uint8_t>(kind)); }
  void add(Kinds other) { bits_ = static_cast<std::uint8_t>(bits_ | other.bits_); }
  void add(Kind kind) { bits_ = static_cast<std::uint8_t>(bits_ | static_cast<std::uint8_t>(kind)); }
  bool contains(Kind kind) const { return (bits_ & static_cast<std::uint8_t>(kind)) != 0; }
  bool empty() const { return bits_ == 0; }
  std::uint8_t bits() const { return bits_; }
  bool operator==(const Kinds&) const = default;

 private:
  std::uint8_t bits_ = 0;
};

// Follows the kernel's notifications on a thread of its own and says only "look again, at this kind". Any number of
// events between two looks is one signal. What the engine itself does (by its port) is no news. When events were lost
// everything has changed. Routes change by the thousand where a routing daemon speaks, and what we do depends on them
// little: they are told of at most once a second. It watches the namespace in which it was started.
class Monitor {
 public:
  // The default buffer of a socket kept 256 of 3,000 rule events; this one holds bursts of tens of thousands.
  static constexpr std::size_t kBuffer = std::size_t{16} << 20U;

  // `changed` is raised from the monitor's thread and must outlive it.
  static base::Result<std::unique_ptr<Monitor>> start(std::uint32_t own_port, runtime::Signal& changed,
                                                      std::size_t buffer = kBuffer);
  ~Monitor();

  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // What has changed since the last call. From any thread.
  Kinds take();

  // Since the start; for metrics.
  std::uint64_t foreign_events() const { return foreign_events_.load(std::memory_order_relaxed); }
  std::uint64_t overruns() const { return overruns_.load(std::memory_order_relaxed); }

 private:
  Monitor(EventSocket socket, std::optional<nft::Watch> nft, base::Fd wake, std::uint32_t own_port,
          runtime::Signal& changed);

  void run(const std::stop_token& stop);
  Kinds drain();  // What the events that are there speak of.
  void note(Kinds kinds);

  EventSocket socket_;
  std::optional<nft::Watch> nft_;  // None where the kernel has no nftables.
  base::Fd wake_;
  std::uint32_t own_port_;
  runtime::Signal& changed_;
  std::atomic<std::uint8_t> kinds_{0};
  std::atomic<std::uint64_t> foreign_events_{0};
  std::atomic<std::uint64_t> overruns_{0};
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace kernel
