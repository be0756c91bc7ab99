// iprule-agent: keeps one node's rules as published, by an API server or by a folder of manifests.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/cluster_agent.h"
#include "agent/environment.h"
#include "agent/manifests.h"
#include "agent/preview.h"
#include "agent/purge.h"
#include "agent/standalone_agent.h"
#include "base/log.h"
#include "base/version.h"
#include "cli/answer_document.h"
#include "cli/exit_code.h"
#include "cli/question.h"
#include "kernel/confine.h"
#include "kube/client.h"
#include "kube/config.h"
#include "metrics/calls.h"
#include "metrics/registry.h"
#include "runtime/memory.h"
#include "runtime/shutdown.h"
#include "settings.h"

namespace {

constexpr int kUsage = 2;

struct Options {
  std::filesystem::path kubeconfig;
  std::string node;
  std::string encoder;
  agent::Environment environment;
  std::filesystem::path folder;
  std::filesystem::path status_folder;
  bool once = false;
  bool dry_run = false;
};

// What the environment variables of an agent are called as flags.
struct Variable {
  const char* flag;
  const char* name;
  const char* fallback;
  const char* help;
};
constexpr std::array<Variable, 5> kVariables = {{
    {"--reconcile-period", "RECONCILE_PERIOD", "10s", "How often to look although nothing changed, 1s or more"},
    {"--metrics-bind-address", "METRICS_ADDR", ":9090", "Where /health, /ready and /metrics answer; 0: nowhere"},
    {"--rule-protocol", "RULE_PROTOCOL", "183", "The protocol that our rules carry, 5 to 255"},
    {"--default-priority", "DEFAULT_PRIORITY", "32765", "Of rules for which none is given"},
    {"--zap-log-level", "LOG_LEVEL", "info", "debug, info, warning or error"},
}};

// Their values as the parser found them.
class VariableFlags {
 public:
  void add_to(CLI::App& app) {
    for (std::size_t i = 0; i < kVariables.size(); ++i) {
      flags_.at(i) = app.add_option(kVariables.at(i).flag, values_.at(i), kVariables.at(i).help);
      flags_.at(i)->default_str(kVariables.at(i).fallback);
    }
  }
  agent::Environment read() const {
    return agent::Environment::read([this](const char* name) -> std::optional<std::string> {
      const auto one = std::ranges::find(kVariables, std::string_view(name), &Variable::name);
      if (one == kVariables.end()) return Settings::of_process()(name);
      const auto i = static_cast<std::size_t>(one - kVariables.begin());
      return flags_.at(i)->count() > 0 ? std::optional(values_.at(i)) : std::nullopt;
    });
  }

 private:
  std::array<std::string, kVariables.size()> values_;
  std::array<CLI::Option*, kVariables.size()> flags_{};
};

std::string host_name() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "";
  return name.substr(0, name.find('\0'));
}

// A person's log-in may need a program to be run, again and again; an agent's own account never does.
void confine(const kube::Config& config) {
  if (!config.plugin.command.empty()) return;
  if (const auto confined = kernel::confine(); !confined) {
    base::log::warning("system calls are not restricted", {{"err", confined.error().message()}});
  }
}

base::Status run_in_cluster(const Options& options) {
  runtime::Shutdown shutdown;
  const auto config = TRY(kube::load_service_config(options.kubeconfig, kube::Environment::of_process()));
  confine(config);
  metrics::Registry registry;  // Before the client, whose calls it counts.
  const auto client =
      TRY(kube::Client::connect(config, {.user_agent = "iprule-agent/" + std::string(base::version())}));
  client->observe_calls(metrics::count_calls(registry, config.server.authority()));
  base::log::info("started", {{"version", base::version_text("iprule-agent")}});
  agent::ClusterAgent(*client, config.server, options.node, options.environment, registry).run(shutdown.token());
  base::log::info("stopped");
  return {};
}

// What an agent would do, on stdout, in the words of the kernel's tools.
base::Status show_plan(const Options& options) {
  const auto manifests = TRY(agent::read_manifests(options.folder));
  const auto preview = TRY(agent::preview_here(manifests, options.node));
  fmt::print("{}", plan::text(preview.todo));
  for (const std::string& skipped : preview.skipped) fmt::print("skipped {}\n", skipped);
  if (!preview.doubt.empty()) return base::fail(base::Fault::unavailable, "not seen whole: " + preview.doubt);
  return {};
}

base::Status run_standalone(const Options& options) {
  if (options.dry_run) return show_plan(options);
  runtime::Shutdown shutdown;
  const agent::StandaloneOptions standalone{.folder = options.folder,
                                            .status_folder = options.status_folder,
                                            .node = options.node,
                                            .audit = options.environment.reconcile_period};
  return options.once ? agent::apply_once(standalone, shutdown.token())
                      : agent::run_standalone(standalone, shutdown.token());
}

// One question, a line of standard input, to this node's kernel; its answer on standard output. It may be run beside
// the agent itself, changes nothing (packets are traced by a table of its own), and asks no API server. The exit code
// is iprulectl's where there is no answer.
int answer_query() {
  std::string line;
  std::getline(std::cin, line);
  const auto question = cli::decode_question(line);
  const auto answer = question ? cli::answer_here(*question) : std::unexpected(question.error());
  if (answer) {
    fmt::print("{}\n", cli::encode(*answer));
    return 0;
  }
  fmt::print(stderr, "{}\n", answer.error().message());
  return static_cast<int>(cli::exit_code_of(answer.error()));
}

base::Status clean_up(const Options& options) {
  runtime::Shutdown shutdown;
  const std::size_t gone = TRY(agent::purge({.protocols = {options.environment.rule_protocol}}, shutdown.token()));
  base::log::info("nothing of ours is left on this host", {{"removed", gone}});
  return {};
}

// A service's lines are all it prints; what prints an answer logs beside it.
void set_up_log(const Options& options, bool is_service) {
  using base::log::Encoding;
  const bool is_console =
      options.encoder.empty() ? is_service && ::isatty(STDOUT_FILENO) == 1 : options.encoder == "console";
  base::log::set_style({.logger = "agent",
                        .always = {{"node", options.node}},
                        .encoding = is_console ? Encoding::console : Encoding::json,
                        .to_stdout = is_service});
  base::log::set_level(options.environment.log_level);
  for (const std::string& complaint : options.environment.complaints) {
    base::log::warning("a setting cannot be as it is given", {{"err", complaint}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  runtime::hold_little_memory();
  Options options;
  CLI::App app("Keeps one node's rules as published", "iprule-agent");
  app.set_version_flag("--version", base::version_text("iprule-agent"));
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file; without it KUBECONFIG or the pod's account counts");
  app.add_option("--node-name", options.node, "Name of this node; the host's name where none is given");
  VariableFlags variables;
  variables.add_to(app);
  app.add_option("--zap-encoder", options.encoder, "json, or console: the default on a terminal")
      ->check(CLI::IsMember({"json", "console"}));
  auto* standalone = app.add_subcommand("standalone", "Read manifests from a folder instead of an API server");
  standalone->add_option("folder", options.folder, "IPRule and Service manifests, YAML or JSON")->required();
  auto* once = standalone->add_flag("--once", options.once, "Apply them once and exit");
  standalone->add_flag("--dry-run", options.dry_run, "Print what would be done and exit")->excludes(once);
  standalone->add_option("--status-directory", options.status_folder, "Folder to keep the file status.json in");
  auto* cleanup = app.add_subcommand("cleanup", "Remove all rules of ours from this host; stop the agent first");
  auto* query =
      app.add_subcommand("query", "Answer a question of iprulectl about this host; it is read as a line of JSON");
  app.require_subcommand(0, 1);
  Settings settings(app);
  settings.older("node-name", "NODE_NAME");
  for (const Variable& variable : kVariables) settings.older(variable.flag + 2, variable.name);
  auto words = settings.complete({argv + 1, argv + argc});
  if (!words) {
    fmt::print(stderr, "iprule-agent: {}\n", words.error().message());
    return kUsage;
  }
  try {
    std::ranges::reverse(*words);  // As the parser takes them.
    app.parse(*words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (settings.is_page_wanted()) {
    fmt::print("{}", settings.page());
    return 0;
  }
  if (*query) {
    base::log::set_level(base::log::Level::error);  // What was found is in the answer.
    return answer_query();
  }
  if (options.node.empty()) options.node = host_name();
  options.environment = variables.read();
  set_up_log(options, !*cleanup && !options.once && !options.dry_run);

  const auto done = *standalone ? run_standalone(options) : *cleanup ? clean_up(options) : run_in_cluster(options);
  if (!done) {
    base::log::error("cannot run", {{"err", done.error().message()}});
    return 1;
  }
  return 0;
}
