#include "bench/footprint.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 180s;
constexpr double kHardlyAny = 0.02;  // Of one processor.

// In kB, as /proc says them.
double mebibytes(const std::string& rollup, std::string_view field) {
  const auto at = rollup.find(field);
  return at == std::string::npos ? 0 : std::strtod(rollup.c_str() + at + field.size(), nullptr) / 1024;
}

}  // namespace

Footprint footprint_of(pid_t process) {
  const auto rollup = base::read_file(fmt::format("/proc/{}/smaps_rollup", process)).value_or("");
  return {.resident = mebibytes(rollup, "\nRss:"), .proportional = mebibytes(rollup, "\nPss:")};
}

double processor_milliseconds(pid_t process) {
  const auto stat = base::read_file(fmt::format("/proc/{}/stat", process)).value_or("");
  // Behind the name, which may hold anything, fields 3 to 13, then user and system time.
  char* at = nullptr;
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::size_t field = name_end + 2;
  for (int skipped = 0; skipped < 11; ++skipped) field = stat.find(' ', field) + 1;
  const double user = std::strtod(stat.c_str() + field, &at);
  const double system = std::strtod(at, nullptr);
  return (user + system) * 1000 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

base::Result<Footprint> footprint_at_rest(pid_t process, std::chrono::milliseconds quiet) {
  const auto until = Clock::now() + kPatience;
  while (Clock::now() < until) {
    const double before = processor_milliseconds(process);
    std::this_thread::sleep_for(quiet);
    const double used = processor_milliseconds(process) - before;
    if (used <= kHardlyAny * static_cast<double>(quiet.count())) return footprint_of(process);
  }
  const auto name = base::read_file(fmt::format("/proc/{}/comm", process)).value_or("it");
  return base::fail(base::Fault::timeout, fmt::format("does not come to rest: {}", name));
}

}  // namespace bench
