#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "path/packet.h"
#include "path/walk.h"
#include "state/net_state.h"

namespace cli {

// A packet as a person writes it.
struct PacketWords {
  std::string from;
  std::string to;
  std::string iif;
  std::string oif;
  std::string mark;
  std::string reply_of;  // The load balancer address of the connection that the packet answers.
  std::string proto;
  std::uint16_t sport = 0;
  std::uint16_t dport = 0;

  bool operator==(const PacketWords&) const = default;
};
base::Result<path::Packet> parse_packet(const PacketWords& words);
base::Result<std::optional<net::Address>> parse_reply_of(const PacketWords& words);

// Two answers to "where does this packet go": that of our walk over what was read, and the kernel's own.
struct Explanation {
  path::Packet packet;
  bool iif_assumed = false;  // Nobody said where the packet comes in: it is where this host would send to its source.
  bool marked = false;       // By our nft table; the mark is on the packet.
  state::NetState observed;
  path::Walk walk;  // Over `observed`.
  std::optional<base::Result<path::Verdict>> kernel;
  std::vector<std::string> notes;  // What else bears on it.
  bool explained = false;          // The notes say why the kernel does not take a way that is there.
};

// For people and programs; a difference between the two comes first and is worth attention.
Answer show(const Explanation& explanation);

// Asks this host. The packet gets the mark that our nft table would give it, as a reply of a connection to `reply_of`
// where that is given.
base::Result<Answer> explain_packet(path::Packet packet, const std::optional<net::Address>& reply_of);

}  // namespace cli
