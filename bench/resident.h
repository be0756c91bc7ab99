#pragma once

#include <sys/types.h>

namespace bench {

// What a process holds of memory; 0 if it is not there.
double resident_mebibytes(pid_t process);

}  // namespace bench
