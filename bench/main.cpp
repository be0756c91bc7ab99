// Prints every promise about speed with what was measured. A promise that is not kept is shown, not hidden; the exit
// code tells only whether everything could run.
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "bench/measure.h"
#include "lab/sandbox.h"

namespace {

constexpr int kRounds = 7;

base::Status run(const std::filesystem::path& results) {
  std::vector<bench::Line> lines;
  for (const auto& promises : {bench::plan_promises(), bench::kernel_promises()}) {
    for (const bench::Promise& promise : promises) {
      fmt::print(stderr, "measuring {}\n", promise.name);
      lines.push_back(TRY(base::within(promise.name, bench::measure(promise, kRounds))));
    }
  }
  fmt::print("{}", bench::format_table(lines));
  return base::write_file(results, bench::format_json(lines));
}

}  // namespace

int main(int, char** argv) {
  const auto results = std::filesystem::absolute("build/bench-results.json");
  if (const auto entered = lab::enter_sandbox(argv); !entered) {
    fmt::print(stderr, "bench: {}\n", entered.error().message());
    return EXIT_FAILURE;
  }
  if (const auto done = run(results); !done) {
    fmt::print(stderr, "bench: {}\n", done.error().message());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
