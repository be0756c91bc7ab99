#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/node_state.h"
#include "cli/node_wishes.h"
#include "cli/reply_evidence.h"
#include "cli/source_modes.h"
#include "kernel/rtnl/neighbour.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace cli {

// What is known of a node's data path, by a look at its kernel or by its report, and what is wanted of it.
struct Examined {
  state::NodeFacts facts{};
  api::NodeState::Status report{};                    // The facts in a report's words.
  std::optional<state::NetState> observed{};          // The kernel, where it was asked.
  std::vector<kernel::rtnl::Neighbour> neighbours{};  // Likewise.
  std::optional<ReplyEvidence> replies{};             // By connections; nothing where nobody looked.
  std::optional<NodeWishes> wishes{};                 // Nothing where no cluster is known.
  bool dumped = false;                                // By dumps: nobody asked, and some things are in none.
  std::uint8_t protocol = api::kRuleProtocol;         // By which rules are ours.
};

// One thing that was looked at.
struct Line {
  enum class Level : std::uint8_t { ok, unknown, warn };
  Level level = Level::ok;
  std::string subject;
  std::string text;
  std::string code{};
};

struct Examination {
  std::vector<Line> lines;
  SourceModes modes;
  std::vector<std::string> unfit;  // IPRules none of whose modes does anything here, by name.
};

// A fact that could not be found is said to be unknown, never guessed.
Examination examine(const Examined& node);

}  // namespace cli
