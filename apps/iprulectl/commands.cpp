#include "commands.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/analyze.h"
#include "cli/cluster.h"
#include "cli/completion.h"
#include "cli/explain.h"
#include "cli/finding_page.h"
#include "cli/import.h"
#include "cli/lab.h"
#include "cli/status.h"
#include "cli/version.h"
#include "lab/sandbox.h"

// What a command's flags are written to lives in a shared_ptr that its function holds.
namespace iprulectl {
namespace {

int run_lab(char** argv, const std::string& scenario) {
  // First of all, before there is any thread: from here on nothing can reach the machine's own network.
  if (const auto entered = lab::enter_sandbox(argv); !entered) return complain(entered.error());
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto show = [](std::string_view text) {
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  const auto right = cli::show_lab({.agent = beside / "iprule-agent", .scenario = scenario}, show);
  if (!right) return complain(right.error());
  return static_cast<int>(*right ? cli::ExitCode::fine : cli::ExitCode::attention);
}

int list_scenarios() {
  for (const cli::LabScenario& scenario : cli::lab_scenarios()) fmt::print("{:10}{}\n", scenario.name, scenario.what);
  return 0;
}

Command lab_command(CLI::App& app, char** argv) {
  auto* word = app.add_subcommand(
      "lab", "Show which uplink replies take, with real packets in a small world of network namespaces");
  struct Flags {
    std::string scenario;
    bool list = false;
  };
  const auto flags = std::make_shared<Flags>();
  std::vector<std::string> names;
  for (const cli::LabScenario& scenario : cli::lab_scenarios()) names.push_back(scenario.name);
  word->add_option("--scenario", flags->scenario, "Only this one")->check(CLI::IsMember(names));
  word->add_flag("--list", flags->list, "List the scenarios");
  return {.word = word,
          .run = [argv, flags] { return flags->list ? list_scenarios() : run_lab(argv, flags->scenario); }};
}

Command status_command(CLI::App& app, Common& common) {
  struct Options {
    cli::ClusterOptions cluster;
    int timeout = 10;
  };
  const auto options = std::make_shared<Options>();
  const std::map<std::string, int> units = {{"s", 1}, {"m", 60}};
  auto* word = app.add_subcommand("status", "One screen: components, problems by cause, the next step");
  word->add_option("--kubeconfig", options->cluster.kubeconfig, "Kubeconfig file; else KUBECONFIG or ~/.kube/config");
  word->add_option("--context", options->cluster.context, "Context of the kubeconfig");
  word->add_option("--request-timeout", options->timeout, "For each question, for example 5s; 10s where none is given")
      ->transform(CLI::AsNumberWithUnit(units))
      ->check(CLI::PositiveNumber)
      ->type_name("DURATION");
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            options->cluster.timeout = std::chrono::seconds(options->timeout);
            const auto facts = cli::read_cluster(options->cluster);
            if (!facts) return could_not_ask(facts.error());
            const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
            return print(cli::show_status(*facts, now), common);
          }};
}

Command explain_command(CLI::App& app, Common& common) {
  struct Options {
    std::string code;
    cli::PacketWords packet;
  };
  const auto options = std::make_shared<Options>();
  cli::PacketWords& packet = options->packet;
  auto* word = app.add_subcommand("explain", "Why a packet of this host goes where it goes, or what a code means");
  word->add_option("code", options->code, "A finding's code, for example IPR0301")
      ->type_name(fmt::format("{}", fmt::join(cli::finding_codes(), "|")));
  word->add_option("--from", packet.from, "The packet's source; none: this host chooses it");
  word->add_option("--to", packet.to, "The packet's destination");
  word->add_option("--iif", packet.iif, "The device it comes in by");
  word->add_option("--oif", packet.oif, "The device its socket is bound to");
  word->add_option("--mark", packet.mark, "Its mark, decimal or 0x...");
  word->add_option("--proto", packet.proto, "Its protocol; tcp where none is given")->type_name("tcp|udp|icmp|icmpv6");
  word->add_option("--sport", packet.sport, "Its source port");
  word->add_option("--dport", packet.dport, "Its destination port");
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (!options->code.empty()) return print(cli::explain_code(options->code), common);
            const auto parsed = cli::parse_packet(options->packet);
            return parsed ? print(cli::explain_packet(*parsed), common) : complain(parsed.error());
          }};
}

Command analyze_command(CLI::App& app, Common& common) {
  struct Options {
    cli::AnalyzeOptions analyze;
    std::vector<std::string> ignored;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("analyze", "What is wrong or surprising in manifests");
  word->add_option("-f,--filename", options->analyze.manifests, "File or folder of manifests")->required();
  add_choice(*word, "--fail-on", options->analyze.fail_on, {"info", "warning", "error"},
             "Exit with 1 from this severity on; warning where none is given");
  word->add_option("--ignore", options->ignored, "Codes not to tell about")->delimiter(',')->type_name("CODES");
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            options->analyze.ignored = {options->ignored.begin(), options->ignored.end()};
            return print(cli::analyze(options->analyze), common);
          }};
}

Command import_command(CLI::App& app, const Common& common) {
  struct Options {
    std::string rules;
    std::string to = "iprule";
    std::string name = "imported";
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("import", "Make manifests of what `ip -j rule` printed");
  word->add_option("--rules", options->rules, "File with the output of `ip -j rule`")->required();
  word->add_option("--to", options->to, "The kind to make")->check(CLI::IsMember({"iprule"}))->type_name("iprule");
  word->add_option("--name", options->name, "Name of the first object");
  return {.word = word, .run = [options, &common] {
            const auto imported = cli::import_file(options->rules, options->name);
            if (!imported) return complain(imported.error());
            fmt::print("{}", imported->manifests);
            return print_to_stderr(imported->sum, common);
          }};
}

Command version_command(CLI::App& app, Common& common) {
  auto* word = app.add_subcommand("version", "What this program is");
  add_output_flag(*word, common);
  return {.word = word, .run = [&app, &common] { return print(cli::show_version(app.get_name()), common); }};
}

Command completion_command(CLI::App& app) {
  const auto shell = std::make_shared<cli::Shell>();
  auto* word = app.add_subcommand("completion", "A script that makes a shell complete our words");
  add_choice(*word, "shell", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")->required();
  return {.word = word, .run = [shell] {
            fmt::print("{}", cli::completion_script(*shell));
            return 0;
          }};
}

}  // namespace

std::vector<Command> add_commands(CLI::App& app, Common& common, char** argv) {
  return {status_command(app, common), explain_command(app, common), analyze_command(app, common),
          import_command(app, common), lab_command(app, argv),       version_command(app, common),
          completion_command(app)};
}

}  // namespace iprulectl
