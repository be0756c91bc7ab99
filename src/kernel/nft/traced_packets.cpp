#include "kernel/nft/traced_packets.h"

#include <linux/netfilter.h>
#include <tuple>

#include "kernel/nft/trace_table.h"

namespace kernel::nft {

void TracedPackets::take(const TraceEvent& event) {
  if (event.family == "inet" && event.table == table_) return take_own(event);
  TracedPacket* const found = find(event);
  if (found == nullptr) return;
  TracedPacket& packet = *found;
  packet.mark = event.mark;
  packet.steps.push_back({.table = event.family + " " + event.table,
                          .chain = event.chain,
                          .at = event.at,
                          .rule = event.rule,
                          .verdict = text(event.verdict),
                          .mark = event.mark});
  const bool decides = event.at != TraceEvent::At::end_of_chain;
  if (decides && event.verdict.code == NF_DROP) {
    packet.fate = TracedPacket::Fate::dropped;
    end(packet);
  }
}

void TracedPackets::take_own(const TraceEvent& event) {
  if (event.chain == kTracePre || event.chain == kTraceOut) {
    if (event.at != TraceEvent::At::rule || !event.header) return;
    on_their_way_[event.id] = packets_.size();
    packets_.push_back({.entered = *event.header,
                        .ended = *event.header,
                        .sent_here = event.chain == kTraceOut,
                        .iif = event.iif,
                        .mark = event.mark});
    return;
  }
  TracedPacket* const found = find(event);
  if (found == nullptr || event.chain == kTraceForward) return;
  TracedPacket& packet = *found;
  packet.fate = event.chain == kTracePost ? TracedPacket::Fate::left : TracedPacket::Fate::delivered;
  packet.oif = event.oif;
  packet.mark = event.mark;
  if (event.header) packet.ended = *event.header;
  end(packet);
}

TracedPacket* TracedPackets::find(const TraceEvent& event) {
  if (const auto known = on_their_way_.find(event.id); known != on_their_way_.end()) return &packets_[known->second];
  if (!event.header) return nullptr;
  const auto sender = [](const TracedHeader& header) {
    return std::tuple(header.from, header.ip_protocol, header.sport);
  };
  auto latest = on_their_way_.end();
  for (auto one = on_their_way_.begin(); one != on_their_way_.end(); ++one) {
    const bool same = sender(packets_[one->second].entered) == sender(*event.header);
    if (same && (latest == on_their_way_.end() || one->second > latest->second)) latest = one;
  }
  if (latest == on_their_way_.end()) return nullptr;
  const std::size_t index = latest->second;
  on_their_way_.erase(latest);
  on_their_way_[event.id] = index;
  return &packets_[index];
}

void TracedPackets::end(const TracedPacket& packet) {
  std::erase_if(on_their_way_, [&](const auto& one) { return &packets_[one.second] == &packet; });
}

std::size_t TracedPackets::awaited(std::size_t count) const {
  std::size_t out = count > packets_.size() ? count - packets_.size() : 0;
  for (const auto& [id, index] : on_their_way_) out += index < count ? 1 : 0;
  return out;
}

}  // namespace kernel::nft
