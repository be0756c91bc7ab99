#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/assignment.h"
#include "cli/live.h"
#include "cli/packet_words.h"
#include "path/packet.h"
#include "path/walk.h"
#include "state/net_state.h"

namespace cli {

// Two answers to "where does this packet go": that of our walk over what was read, and the kernel's own.
struct Explanation {
  path::Packet packet;
  bool iif_assumed = false;  // Nobody said where the packet comes in: it is where this host would send to its source.
  bool marked = false;       // By our nft table; the mark is on the packet.
  state::NetState observed;
  path::Walk walk;  // Over `observed`.
  std::optional<base::Result<path::Verdict>> kernel;
  std::optional<LiveSight> live{};  // Real packets, where some were waited for.
  std::vector<std::string> notes;   // What else bears on it.
  bool explained = false;           // The notes say why the kernel does not take a way that is there.
  bool supposed = false;            // `observed` is the host as it would be: no kernel can be asked about it.
  bool dumped = false;              // `observed` is what dumps of a host show: no kernel was asked.
};

// For people and programs; a difference between the two comes first and is worth attention.
Answer show(const Explanation& explanation);

// Asks this host. The packet gets the mark that our nft table would give it, as a reply of a connection to `reply_of`
// where that is given. With `supposed`, the host is as that wants it, and the kernel is asked for everything else. With
// `live`, real packets of its flow are waited for; without any the answer is ExitCode::waited_in_vain.
base::Result<Answer> explain_packet(path::Packet packet, const std::optional<net::Address>& reply_of,
                                    const std::optional<Assignment>& supposed = {},
                                    const std::optional<LiveWish>& live = {});

// The same by a folder of dumps, as state_folder.h reads them: no kernel is asked, and what dumps do not show is said.
base::Result<Answer> explain_packet_by_dumps(path::Packet packet, const std::optional<net::Address>& reply_of,
                                             const std::filesystem::path& folder,
                                             const std::optional<Assignment>& supposed = {});

}  // namespace cli
