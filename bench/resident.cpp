#include "bench/resident.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"

namespace bench {

double resident_mebibytes(pid_t process) {
  const auto status = base::read_file(fmt::format("/proc/{}/status", process)).value_or("");
  const auto at = status.find("VmRSS:");
  return at == std::string::npos ? 0 : std::strtod(status.c_str() + at + 6, nullptr) / 1024;
}

}  // namespace bench
