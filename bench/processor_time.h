#pragma once

#include <sys/resource.h>

namespace bench {

// What this process has used so far, in user and system mode.
inline double own_processor_milliseconds() {
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace bench
