// iprulectl lab
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "cli/lab.h"
#include "cli/progress.h"
#include "commands.h"
#include "lab/sandbox.h"

namespace iprulectl {
namespace {

int run_lab(char** argv, cli::LabOptions options, const Common& common) {
  // First of all, before there is any thread: from here on nothing can reach the machine's own network.
  if (const auto entered = lab::enter_sandbox(argv); !entered) return complain(entered.error());
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.agent = programs / "iprule-agent";
  options.controller = programs / "iprule-controller";
  if (!options.kubernetes.empty()) options.kubernetes = std::filesystem::absolute(options.kubernetes);
  const auto terminal = cli::Terminal::of(STDOUT_FILENO, common.colour, cli::TerminalEnvironment::of_process());
  const auto print = [&](const cli::Page& page) {
    fmt::print("{}", page.render(terminal));
    std::fflush(stdout);
  };
  cli::Progress progress(STDERR_FILENO);
  const auto right = cli::show_lab(options, {.print = print, .progress = progress});
  progress.clear();
  if (!right) return complain(right.error());
  return static_cast<int>(*right ? cli::ExitCode::fine : cli::ExitCode::attention);
}

int list_scenarios() {
  for (const cli::LabScenario& scenario : cli::lab_scenarios()) fmt::print("{:10}{}\n", scenario.name, scenario.what);
  return 0;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const cli::LabScenario& scenario : cli::lab_scenarios()) names.push_back(scenario.name);
  return names;
}

}  // namespace

Command lab_command(CLI::App& app, const Common& common, char** argv) {
  auto* word = app.add_subcommand(
      "lab", "Show which uplink replies take, with real packets in a small world of network namespaces");
  struct Flags {
    cli::LabOptions lab;
    bool list = false;
  };
  const auto flags = std::make_shared<Flags>();
  const auto names = scenario_names();
  const auto hosts = cli::lab_hosts();
  word->add_option("--scenario", flags->lab.scenario, "Only this one")
      ->check(CLI::IsMember(names))
      ->type_name(CLI::detail::join(names, "|"));
  word->add_flag("--list", flags->list, "List the scenarios");
  word->add_flag("--keep", flags->lab.keep, "Keep the world at the end, until Ctrl-C, and say how to get in");
  word->add_option("--shell", flags->lab.shell, "Open a shell on this machine of the world at the end")
      ->check(CLI::IsMember(hosts))
      ->type_name(CLI::detail::join(hosts, "|"));
  word->add_option("--pcap", flags->lab.captures, "Folder to write what both gateways see into, for tcpdump")
      ->type_name("FOLDER");
  word->add_option(
          "--kubernetes", flags->lab.kubernetes,
          "Make the nodes those of a cluster: with this program, which is etcd, kube-apiserver, kube-proxy and "
          "kubectl by its first argument (.ci/kubernetes builds one)")
      ->check(CLI::ExistingFile)
      ->type_name("PROGRAM");
  return {.word = word,
          .run = [argv, flags, &common] { return flags->list ? list_scenarios() : run_lab(argv, flags->lab, common); }};
}

}  // namespace iprulectl
