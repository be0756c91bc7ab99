#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/nft/trace_event.h"

namespace kernel::nft {

// What one packet met on its way through this host.
struct TracedPacket {
  struct Step {
    std::string table;  // "inet iprule"
    std::string chain;
    TraceEvent::At at = TraceEvent::At::rule;
    std::uint64_t rule = 0;
    std::string verdict;
    std::uint32_t mark = 0;  // After it.
    bool operator==(const Step&) const = default;
  };
  enum class Fate : std::uint8_t {
    unknown,  // It was not heard of again: no route, or somebody took it away.
    left,
    delivered,  // To this host itself.
    dropped,    // By the rule or chain of the last step.
  };

  TracedHeader entered{};  // Before anything changed it.
  TracedHeader ended{};    // After everything did; as it entered, where its end was not seen.
  bool sent_here = false;  // By this host; else it came in.
  std::uint32_t iif = 0;
  std::uint32_t oif = 0;  // Where it left.
  std::uint32_t mark = 0;
  std::vector<Step> steps{};  // All but our own.
  Fate fate = Fate::unknown;
};

// Sorts what the kernel tells, in whatever order the packets of several processors come, by packet.
class TracedPackets {
 public:
  // `table`: that of trace_table(), whose chains say where a packet begins and ends. Packets that somebody else traces
  // pass through it, too, but do not begin with its rule.
  explicit TracedPackets(std::string table) : table_(std::move(table)) {}

  void take(const TraceEvent& event);

  const std::vector<TracedPacket>& packets() const { return packets_; }  // In the order in which they began.
  // How many of the first `count` have not come to an end that is known; those that are still to come among them.
  std::size_t awaited(std::size_t count) const;

 private:
  void take_own(const TraceEvent& event);
  // Whose it is. A packet that came through a bridge gets another number behind it (the kernel makes it of the device,
  // too): then it is the last one on its way with the same sender.
  TracedPacket* find(const TraceEvent& event);
  void end(const TracedPacket& packet);

  std::string table_;
  std::vector<TracedPacket> packets_;
  std::map<std::uint32_t, std::size_t> on_their_way_;  // By id, which a later packet may have again.
};

}  // namespace kernel::nft
