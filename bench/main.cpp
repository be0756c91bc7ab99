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

// What cannot be measured is told and left out; the rest goes on.
template <typename Subject, typename Line>
bool measure_all(const std::string& group, const std::vector<Subject>& subjects, std::vector<Line>& lines) {
  bool whole = true;
  for (const Subject& subject : subjects) {
    fmt::print(stderr, "measuring {}: {}\n", group, subject.name);
    if (auto line = bench::measure(subject)) {
      lines.push_back(*std::move(line));
    } else {
      fmt::print(stderr, "cannot measure {}: {}: {}\n", group, subject.name, line.error().message());
      whole = false;
    }
  }
  return whole;
}

// Whether everything could be measured.
base::Result<bool> run(std::vector<bench::Group> groups, const std::filesystem::path& folder) {
  const bench::Machine machine = bench::this_machine();
  const base::Fd home(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  std::vector<bench::GroupReport> reports;
  bool whole = true;
  while (!groups.empty()) {
    // What a group has started ends with it, and the next begins in the same network namespace.
    const bench::Group group = std::move(groups.front());
    groups.erase(groups.begin());
    bench::GroupReport& report =
        reports.emplace_back(bench::GroupReport{.name = group.name, .lines = {}, .growth = {}});
    whole = measure_all(group.name, group.promises, report.lines) && whole;
    whole = measure_all(group.name, group.growth, report.growth) && whole;
    if (::setns(home.get(), CLONE_NEWNET) != 0) return base::fail_errno("setns", errno);
    TRY(base::write_file(folder / (group.name + ".svg"), bench::format_svg(report, machine)));
  }
  fmt::print("{}", bench::format_table(reports));
  TRY(base::write_file(folder / "results.json", bench::format_json(reports, machine)));
  return whole;
}

std::vector<bench::Group> all_groups() {
  return {bench::net_group(),       bench::state_group(),  bench::decode_group(), bench::intent_group(),
          bench::plan_group(),      bench::kernel_group(), bench::kube_group(),   bench::service_rules_group(),
          bench::dataplane_group(), bench::memory_group(), bench::scale_group(),  bench::crowd_group()};
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
  const auto whole = run(std::move(groups), folder);
  if (!whole) fmt::print(stderr, "bench: {}\n", whole.error().message());
  return whole && *whole ? EXIT_SUCCESS : EXIT_FAILURE;
}
