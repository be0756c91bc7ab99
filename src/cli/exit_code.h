#pragma once

#include "base/result.h"

namespace cli {

// What the program's end says to a script. 130 is the shell's word for Ctrl-C, which ends us at once.
enum class ExitCode {
  fine = 0,            // Healthy, nothing to change, no finding.
  attention = 1,       // A true answer that somebody should look at: changes, findings, a wrong path.
  usage = 2,           // Wrong usage or unreadable input.
  could_not_ask = 3,   // Something could not be asked; what is known was printed. Beats `attention`.
  waited_in_vain = 4,  // What was waited for did not come in time; what is was printed.
};

inline ExitCode exit_code_of(const base::Error& error) {
  return error.fault() == base::Fault::invalid ? ExitCode::usage : ExitCode::could_not_ask;
}

}  // namespace cli
