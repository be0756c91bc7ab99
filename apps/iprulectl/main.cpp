// iprulectl: the person's tool. Found in PATH as kubectl-iprule it is `kubectl iprule`.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "base/version.h"
#include "cli/completion.h"
#include "command_line.h"
#include "commands.h"

namespace {

// What the shells' scripts ask: one candidate per line, its description behind a tab.
int run_complete(const CLI::App& app, std::span<const std::string> words) {
  for (const cli::Candidate& candidate : cli::complete(iprulectl::tree_of(app), words)) {
    fmt::print("{}\t{}\n", candidate.word, candidate.description);
  }
  return 0;
}

// kubectl asks a plugin's completion under this name, with its words as arguments, and wants to know at the end whether
// files may be offered as well (0) or not (4).
constexpr std::string_view kKubectlComplete = "kubectl_complete-iprule";

int run_kubectl_complete(const CLI::App& app, std::span<const std::string> words) {
  const auto found = cli::complete(iprulectl::tree_of(app), words);
  for (const cli::Candidate& candidate : found) fmt::print("{}\t{}\n", candidate.word, candidate.description);
  fmt::print(":{}\n", found.empty() ? 0 : 4);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // What a command found is in its answer; what library code would log of it besides is for daemons.
  base::log::set_level(base::log::Level::error);
  iprulectl::Common common;
  const std::vector<std::string> arguments(argv, argv + argc);
  CLI::App app("Policy routing for Kubernetes nodes: the person's tool",
               iprulectl::program_name(arguments.empty() ? "" : arguments[0]));
  app.set_version_flag("--version", base::version_text("iprulectl"));
  app.require_subcommand(0, 1);
  iprulectl::add_common_flags(app, common);
  const auto commands = iprulectl::add_commands(app, common, argv);

  if (std::filesystem::path(arguments.empty() ? "" : arguments[0]).filename() == kKubectlComplete) {
    return run_kubectl_complete(app, std::span(arguments).subspan(1));
  }
  // Taken before the parser sees it: what is being typed is seldom a right command line yet.
  if (arguments.size() > 1 && arguments[1] == "__complete") return run_complete(app, std::span(arguments).subspan(2));

  if (const auto end = iprulectl::parse(app, argc, argv)) return *end;
  for (const iprulectl::Command& command : commands) {
    if (command.word->parsed()) return command.run();
  }
  fmt::print(stderr, "{}", app.help());
  return static_cast<int>(cli::ExitCode::usage);
}
