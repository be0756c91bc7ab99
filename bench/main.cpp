// bench [GROUP...]: prints every promise about speed with what was measured. A promise that is not kept is shown, not
// hidden; the exit code tells only whether everything could run.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fd.h"
#include "base/file.h"
#include "bench/measure.h"
#include "bench/report.h"
#include "lab/sandbox.h"

namespace {

constexpr int kWrongUsage = 2;

base::Result<bench::GroupReport> run(const bench::Group& group) {
  bench::GroupReport report{.name = group.name, .lines = {}, .growth = {}};
  for (const bench::Promise& promise : group.promises) {
    fmt::print(stderr, "measuring {}: {}\n", group.name, promise.name);
    report.lines.push_back(TRY(base::within(promise.name, bench::measure(promise))));
  }
  for (const bench::Growth& growth : group.growth) {
    fmt::print(stderr, "measuring {}: {}\n", group.name, growth.name);
    report.growth.push_back(TRY(base::within(growth.name, bench::measure(growth))));
  }
  return report;
}

base::Status run(std::vector<bench::Group> groups, const std::filesystem::path& folder) {
  const bench::Machine machine = bench::this_machine();
  const base::Fd home(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  std::vector<bench::GroupReport> reports;
  while (!groups.empty()) {
    // What a group has started ends with it, and the next begins in the same network namespace.
    const bench::Group group = std::move(groups.front());
    groups.erase(groups.begin());
    reports.push_back(TRY(run(group)));
    if (::setns(home.get(), CLONE_NEWNET) != 0) return base::fail_errno("setns", errno);
    TRY(base::write_file(folder / (group.name + ".svg"), bench::format_svg(reports.back(), machine)));
  }
  fmt::print("{}", bench::format_table(reports));
  return base::write_file(folder / "results.json", bench::format_json(reports, machine));
}

std::vector<bench::Group> all_groups() {
  return {bench::net_group(),       bench::state_group(),  bench::decode_group(), bench::intent_group(),
          bench::plan_group(),      bench::kernel_group(), bench::kube_group(),   bench::service_rules_group(),
          bench::dataplane_group(), bench::memory_group(), bench::scale_group()};
}

}  // namespace

int main(int count, char** argv) {
  std::vector<bench::Group> groups = all_groups();
  std::vector<std::string> known;
  for (const bench::Group& group : groups) known.push_back(group.name);
  const std::vector<std::string> wanted(argv + 1, argv + count);
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    fmt::print(stderr, "bench: no group \"{}\"; there are {}\n", name, fmt::join(known, ", "));
    return kWrongUsage;
  }
  if (!wanted.empty()) {
    std::erase_if(groups,
                  [&](const bench::Group& group) { return std::ranges::find(wanted, group.name) == wanted.end(); });
  }

  const auto folder = std::filesystem::absolute("build/bench");
  std::filesystem::create_directories(folder);
  if (const auto entered = lab::enter_sandbox(argv); !entered) {
    fmt::print(stderr, "bench: {}\n", entered.error().message());
    return EXIT_FAILURE;
  }
  if (const auto done = run(std::move(groups), folder); !done) {
    fmt::print(stderr, "bench: {}\n", done.error().message());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
