#include "commands.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <climits>
#include <fmt/format.h>

#include "agent/manifests.h"
#include "agent/standalone_status.h"
#include "cli/analyze.h"
#include "cli/cluster.h"
#include "cli/completion.h"
#include "cli/doctor.h"
#include "cli/explain.h"
#include "cli/explain_service.h"
#include "cli/finding_page.h"
#include "cli/import.h"
#include "cli/lab.h"
#include "cli/node_report.h"
#include "cli/plan_cluster.h"
#include "cli/plan_host.h"
#include "cli/progress.h"
#include "cli/standalone_page.h"
#include "cli/status.h"
#include "cli/version.h"
#include "lab/sandbox.h"
#include "meta/time.h"

// What a command's flags are written to lives in a shared_ptr that its function holds.
namespace iprulectl {
namespace {

std::string host_name() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "";
  return name.substr(0, name.find('\0'));
}

int run_lab(char** argv, cli::LabOptions options, const Common& common) {
  // First of all, before there is any thread: from here on nothing can reach the machine's own network.
  if (const auto entered = lab::enter_sandbox(argv); !entered) return complain(entered.error());
  options.agent = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "iprule-agent";
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
  return {.word = word,
          .run = [argv, flags, &common] { return flags->list ? list_scenarios() : run_lab(argv, flags->lab, common); }};
}

// Which cluster to ask, and how long.
struct ClusterFlags {
  cli::ClusterOptions cluster;
  int timeout = 10;
  std::vector<std::string> nodes;

  const cli::ClusterOptions& options() {
    cluster.timeout = std::chrono::seconds(timeout);
    return cluster;
  }
};

CLI::Option* add_duration(CLI::App& word, const std::string& flag, int& seconds, const std::string& description) {
  const std::map<std::string, int> units = {{"s", 1}, {"m", 60}};
  return word.add_option(flag, seconds, description)
      ->transform(CLI::AsNumberWithUnit(units))
      ->check(CLI::PositiveNumber)
      ->type_name("DURATION");
}

void add_cluster_flags(CLI::App& word, ClusterFlags& flags) {
  word.add_option("--kubeconfig", flags.cluster.kubeconfig, "Kubeconfig file; else KUBECONFIG or ~/.kube/config");
  word.add_option("--context", flags.cluster.context, "Context of the kubeconfig");
  add_duration(word, "--request-timeout", flags.timeout, "For each question, for example 5s; 10s where none is given");
}

void add_node_flag(CLI::App& word, ClusterFlags& flags) {
  word.add_option("--node", flags.nodes, "Only this node of the cluster; may be repeated")->type_name("NAME");
}

meta::Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// What the cluster's objects say, through `show`.
template <typename Show>
int ask_cluster(ClusterFlags& flags, const Common& common, Show show) {
  const auto objects = cli::read_objects(flags.options());
  return objects ? print(show(*objects), common) : could_not_ask(objects.error());
}

// Asks again and again: with `watch` for ever, printing what is new; with a time to wait until all is well.
struct Patience {
  bool watch = false;
  int wait = 0;  // Seconds; 0: not at all.
};

int show_cluster_status(ClusterFlags& flags, const Patience& patience, const Common& common) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(patience.wait);
  std::string last;
  while (true) {
    const auto facts = cli::read_cluster(flags.options());
    if (!facts) return could_not_ask(facts.error());
    const cli::Answer answer = cli::show_status(*facts, now());
    const bool in_time = std::chrono::steady_clock::now() < deadline;
    if (!patience.watch && (patience.wait == 0 || answer.code == cli::ExitCode::fine || !in_time)) {
      const int code = print(answer, common);
      const bool in_vain = patience.wait > 0 && answer.code == cli::ExitCode::attention;
      return in_vain ? static_cast<int>(cli::ExitCode::waited_in_vain) : code;
    }
    if (patience.watch && answer.json != last) print(answer, common);
    last = answer.json;
    std::this_thread::sleep_for(std::chrono::seconds(1));  // A person waits; one list a second is little to a server.
  }
}

Command status_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    Patience patience;
    bool standalone = false;
    std::filesystem::path status_folder = "/run/iprule";
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("status", "One screen: components, problems by cause, the next step");
  add_cluster_flags(*word, options->cluster);
  add_duration(*word, "--wait", options->patience.wait, "Until all is well, at most so long, for example 60s");
  word->add_flag("-w,--watch", options->patience.watch, "Go on, and print what is new");
  word->add_flag("--standalone", options->standalone, "Of this host's standalone agent instead of a cluster");
  word->add_option("--status-directory", options->status_folder,
                   "Where that agent keeps its status; /run/iprule where none is given");
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (!options->standalone) return show_cluster_status(options->cluster, options->patience, common);
            const auto status = agent::read_status(options->status_folder);
            return status ? print(cli::show_standalone(*status), common) : could_not_ask(status.error());
          }};
}

Command explain_command(CLI::App& app, Common& common) {
  struct Options {
    std::string what;
    std::string ns = "default";
    cli::PacketWords packet;
    ClusterFlags cluster;
  };
  const auto options = std::make_shared<Options>();
  cli::PacketWords& packet = options->packet;
  auto* word = app.add_subcommand(
      "explain", "Why a packet of this host goes where it goes, why a Service is steered or not, or what a code means");
  word->add_option("what", options->what, "A finding's code, for example IPR0301; or svc/NAME, vip/ADDRESS")
      ->type_name(fmt::format("{}", fmt::join(cli::finding_codes(), "|")));
  word->add_option("-n,--namespace", options->ns, "The Service's name space; default where none is given");
  word->add_option("--from", packet.from, "The packet's source; none: this host chooses it");
  word->add_option("--to", packet.to, "The packet's destination");
  word->add_option("--iif", packet.iif, "The device it comes in by");
  word->add_option("--oif", packet.oif, "The device its socket is bound to");
  word->add_option("--reply-of", packet.reply_of, "The load balancer address of the connection that it answers");
  word->add_option("--mark", packet.mark, "Its mark, decimal or 0x...");
  word->add_option("--proto", packet.proto, "Its protocol; tcp where none is given")->type_name("tcp|udp|icmp|icmpv6");
  word->add_option("--sport", packet.sport, "Its source port");
  word->add_option("--dport", packet.dport, "Its destination port");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (cli::names_service(options->what)) {
              return ask_cluster(options->cluster, common, [&](const cli::ClusterObjects& objects) {
                return cli::explain_service(objects, options->what, options->ns);
              });
            }
            if (!options->what.empty()) return print(cli::explain_code(options->what), common);
            const auto parsed = cli::parse_packet(options->packet);
            if (!parsed) return complain(parsed.error());
            const auto reply_of = cli::parse_reply_of(options->packet);
            return reply_of ? print(cli::explain_packet(*parsed, *reply_of), common) : complain(reply_of.error());
          }};
}

Command plan_command(CLI::App& app, Common& common) {
  struct Options {
    cli::PlanOptions host;
    ClusterFlags cluster;
    bool standalone = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("plan", "What manifests would change on the nodes of a cluster, or on this host");
  word->add_option("-f,--filename", options->host.manifests, "File or folder of manifests")->required();
  word->add_flag("--standalone", options->standalone,
                 "On this host, with the manifests as the whole of what is wanted there");
  word->add_option("--state", options->host.state,
                   "The same on a host whose rules are in this folder: rule.json (`ip -j rule`), rule6.json");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->standalone || !options->host.state.empty()) {
              const auto& nodes = options->cluster.nodes;
              options->host.node = nodes.empty() ? host_name() : nodes.front();
              return print(cli::plan_manifests(options->host), common);
            }
            const auto manifests = agent::read_manifests(options->host.manifests);
            if (!manifests) return complain(manifests.error());
            return ask_cluster(options->cluster, common, [&](const cli::ClusterObjects& objects) {
              return cli::plan_in_cluster(objects, *manifests, options->cluster.nodes);
            });
          }};
}

Command diff_command(CLI::App& app, Common& common) {
  struct Options {
    std::filesystem::path folder = "/etc/iprule";
    ClusterFlags cluster;
    bool standalone = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("diff", "What nodes have not done yet, or this host's kernel lacks of its folder");
  word->add_flag("--standalone", options->standalone, "This host's kernel against its standalone agent's folder");
  word->add_option("folder", options->folder, "That folder; /etc/iprule where none is given");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->standalone) return print(cli::diff_folder(options->folder, host_name()), common);
            return ask_cluster(options->cluster, common, [&](const cli::ClusterObjects& objects) {
              return cli::diff_in_cluster(objects, options->cluster.nodes, now());
            });
          }};
}

Command doctor_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    bool local = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("doctor", "What data paths show, and which source mode works on them");
  word->add_flag("--local", options->local, "Of this host, by looking at it, instead of by what agents reported");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->local) return print(cli::examine_host(), common);
            return ask_cluster(options->cluster, common, [&](const cli::ClusterObjects& objects) {
              return cli::examine_nodes(objects, options->cluster.nodes);
            });
          }};
}

Command drift_command(CLI::App& app, Common& common) {
  const auto flags = std::make_shared<ClusterFlags>();
  auto* word = app.add_subcommand("drift", "Where others keep changing what is ours, or have rules beside it");
  add_node_flag(*word, *flags);
  add_cluster_flags(*word, *flags);
  add_output_flag(*word, common);
  return {.word = word, .run = [flags, &common] {
            return ask_cluster(*flags, common, [&](const cli::ClusterObjects& objects) {
              return cli::drift_in_cluster(objects, flags->nodes, now());
            });
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
  return {
      status_command(app, common),  plan_command(app, common),   diff_command(app, common),
      explain_command(app, common), doctor_command(app, common), drift_command(app, common),
      analyze_command(app, common), import_command(app, common), lab_command(app, common, argv),
      version_command(app, common), completion_command(app),
  };
}

}  // namespace iprulectl
