#include "metrics/process.h"

#include <chrono>
#include <fcntl.h>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/version.h"

namespace metrics {
namespace {

double value_of(const Registry& registry, const std::string& name) {
  const std::string text = registry.text();
  const auto line = text.find("\n" + name + " ");
  return line == std::string::npos ? -1 : std::stod(text.substr(line + name.size() + 2));
}

TEST(Process, figures_are_those_of_this_process) {
  Registry registry;
  add_process(registry);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(value_of(registry, "process_start_time_seconds"), now + 2);
  EXPECT_GT(value_of(registry, "process_start_time_seconds"), now - 3600);
  EXPECT_GT(value_of(registry, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(value_of(registry, "process_virtual_memory_bytes"), value_of(registry, "process_resident_memory_bytes"));
  EXPECT_GT(value_of(registry, "process_max_fds"), 0);
}

TEST(Process, open_descriptors_are_counted_anew_each_time) {
  Registry registry;
  add_process(registry);
  const double before = value_of(registry, "process_open_fds");
  const base::Fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(value_of(registry, "process_open_fds"), before + 1);
}

TEST(Process, spent_time_grows) {
  Registry registry;
  add_process(registry);
  const double before = value_of(registry, "process_cpu_seconds_total");
  while (value_of(registry, "process_cpu_seconds_total") == before) {
  }
  EXPECT_GT(value_of(registry, "process_cpu_seconds_total"), before);
}

TEST(BuildInfo, the_version_is_a_label) {
  Registry registry;
  add_build_info(registry);
  EXPECT_NE(registry.text().find("iprule_build_info{version=\"" + std::string(base::version()) + "\"} 1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace metrics
