#pragma once

#include <cstdint>
#include <string>

namespace controller {

// The text of an Event. It always ends with what to do next, the code of the page that explains it, and the epoch that
// links it to a NodeState and to log lines; where the server's limit is too narrow, what was said is cut, not these.
struct Note {
  std::string said;
  std::string next = {};    // What to do; empty where `said` ends with it.
  std::string code = {};    // "IPR0314"; left out where `said` has it already.
  std::uint64_t epoch = 0;  // 0: there is none.

  std::string text() const;  // "said; next (IPR0314), epoch 412"
};

}  // namespace controller
