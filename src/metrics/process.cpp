#include "metrics/process.h"

#include <filesystem>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/version.h"

namespace metrics {
namespace {

struct Process {
  double cpu_seconds = 0;
  double start_seconds = 0;  // Since the epoch.
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

double per_tick() {
  static const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return tick;
}

// proc_pid_stat(5). The name in parentheses may hold anything, so fields are counted from the last ")".
std::optional<Process> read_stat(double boot_seconds) {
  const auto stat = base::read_file("/proc/self/stat");
  if (!stat) return std::nullopt;
  std::istringstream rest(stat->substr(stat->rfind(')') + 1));
  constexpr int kFirst = 3;  // The state follows the name.
  constexpr int kUser = 14;
  constexpr int kSystem = 15;
  constexpr int kStart = 22;
  constexpr int kVirtual = 23;
  constexpr int kResident = 24;
  Process out;
  std::string word;
  for (int field = kFirst; field <= kResident && rest >> word; ++field) {
    if (field == kUser || field == kSystem) out.cpu_seconds += std::stod(word) * per_tick();
    if (field == kStart) out.start_seconds = boot_seconds + std::stod(word) * per_tick();
    if (field == kVirtual) out.virtual_bytes = std::stod(word);
    if (field == kResident) out.resident_bytes = std::stod(word) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  return out;
}

double boot_time() {
  const auto stat = base::read_file("/proc/stat");
  const auto line = stat ? stat->find("\nbtime ") : std::string::npos;
  return line == std::string::npos ? 0 : std::stod(stat->substr(line + 7));
}

std::optional<double> open_descriptors() {
  std::error_code error;
  double count = -1;  // The one that lists them.
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count;
}

double limit_of(__rlimit_resource_t resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void add_process(Registry& registry) {
  const auto cpu = registry.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
  const auto start =
      registry.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.");
  const auto resident = registry.gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  const auto virtual_size = registry.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  const auto virtual_max =
      registry.gauge("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.");
  const auto descriptors = registry.gauge("process_open_fds", "Number of open file descriptors.");
  const auto most_descriptors = registry.gauge("process_max_fds", "Maximum number of open file descriptors.");
  registry.before_text([=, boot = boot_time()] {
    // What cannot be read keeps its last value: 0 would be a lie.
    if (const auto process = read_stat(boot)) {
      cpu.raise_to(process->cpu_seconds);
      start.set(process->start_seconds);
      resident.set(process->resident_bytes);
      virtual_size.set(process->virtual_bytes);
    }
    if (const auto open = open_descriptors()) descriptors.set(*open);
    most_descriptors.set(limit_of(RLIMIT_NOFILE));
    virtual_max.set(limit_of(RLIMIT_AS));
  });
}

void add_build_info(Registry& registry) {
  const Labels labels = {{"version", std::string(base::version())}};
  registry.gauge("iprule_build_info", "The version that is running, always 1.", labels).set(1);
}

}  // namespace metrics
