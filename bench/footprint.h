#pragma once

#include <chrono>
#include <sys/types.h>

#include "base/result.h"

namespace bench {

// What a process holds of memory, in MiB: all its pages, and with those it shares counted by its part.
struct Footprint {
  double resident = 0;
  double proportional = 0;
};
Footprint footprint_of(pid_t process);  // Zeros if it is not there.

double processor_milliseconds(pid_t process);  // Used since its start.

// The same after the process has come to rest: it has hardly used the processor for `quiet`.
base::Result<Footprint> footprint_at_rest(pid_t process,
                                          std::chrono::milliseconds quiet = std::chrono::milliseconds(1500));

}  // namespace bench
