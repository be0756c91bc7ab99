// iprulectl: the person's tool.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/version.h"
#include "cli/lab.h"
#include "lab/sandbox.h"

namespace {

enum ExitCode { kFine = 0, kAttention = 1, kUsage = 2, kCouldNotAsk = 3 };

void print(std::string_view text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

int report(const base::Error& error) {
  fmt::print(stderr, "iprulectl: {}\n", error.message());
  return kCouldNotAsk;
}

int run_lab(char** argv) {
  // First of all, before there is any thread: from here on nothing can reach the machine's own network.
  if (const auto entered = lab::enter_sandbox(argv); !entered) return report(entered.error());
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto right = cli::show_lab({.agent = beside / "iprule-agent"}, print);
  if (!right) return report(right.error());
  return *right ? kFine : kAttention;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Policy routing for Kubernetes nodes: the person's tool", "iprulectl");
  app.set_version_flag("--version", base::version_text("iprulectl"));
  const auto* lab = app.add_subcommand(
      "lab", "Show which uplink replies take, with real packets in a small world of network namespaces");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kUsage;
  }
  if (*lab) return run_lab(argv);
  fmt::print(stderr, "{}", app.help());
  return kUsage;
}
