// iprule-agent: keeps one node's rules as published, by an API server or by a folder of manifests.
#include <filesystem>
#include <iostream>
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
#include "kube/client.h"
#include "kube/config.h"
#include "runtime/memory.h"
#include "runtime/shutdown.h"

namespace {

struct Options {
  std::filesystem::path kubeconfig;
  std::string node;
  std::filesystem::path folder;
  std::filesystem::path status_folder;
  bool once = false;
  bool dry_run = false;
};

std::string host_name() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "";
  return name.substr(0, name.find('\0'));
}

base::Status run_in_cluster(const Options& options, const agent::Environment& environment) {
  runtime::Shutdown shutdown;
  const auto config = TRY(kube::load_config(options.kubeconfig, "", kube::Environment::of_process()));
  const auto client =
      TRY(kube::Client::connect(config, {.user_agent = "iprule-agent/" + std::string(base::version())}));
  base::log::info("started", {{"version", base::version_text("iprule-agent")}, {"node", options.node}});
  agent::ClusterAgent(*client, options.node, environment).run(shutdown.token());
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

base::Status run_standalone(const Options& options, const agent::Environment& environment) {
  if (options.dry_run) return show_plan(options);
  runtime::Shutdown shutdown;
  const agent::StandaloneOptions standalone{.folder = options.folder,
                                            .status_folder = options.status_folder,
                                            .node = options.node,
                                            .audit = environment.reconcile_period};
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

base::Status clean_up(const agent::Environment& environment) {
  runtime::Shutdown shutdown;
  const std::size_t gone = TRY(agent::purge({.protocols = {environment.rule_protocol}}, shutdown.token()));
  base::log::info("nothing of ours is left on this host", {{"removed", std::to_string(gone)}});
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  runtime::hold_little_memory();
  Options options;
  CLI::App app("Keeps one node's rules as published", "iprule-agent");
  app.set_version_flag("--version", base::version_text("iprule-agent"));
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file; without it KUBECONFIG or the pod's account counts");
  app.add_option("--node-name", options.node, "Name of this node; the host's name where none is given")
      ->envname("NODE_NAME");
  auto* standalone = app.add_subcommand("standalone", "Read manifests from a folder instead of an API server");
  standalone->add_option("folder", options.folder, "IPRule and Service manifests, YAML or JSON")->required();
  auto* once = standalone->add_flag("--once", options.once, "Apply them once and exit");
  standalone->add_flag("--dry-run", options.dry_run, "Print what would be done and exit")->excludes(once);
  standalone->add_option("--status-directory", options.status_folder, "Folder to keep the file status.json in");
  auto* cleanup = app.add_subcommand("cleanup", "Remove all rules of ours from this host; stop the agent first");
  auto* query =
      app.add_subcommand("query", "Answer a question of iprulectl about this host; it is read as a line of JSON");
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*query) {
    base::log::set_level(base::log::Level::error);  // What was found is in the answer.
    return answer_query();
  }
  if (options.node.empty()) options.node = host_name();

  const auto environment = agent::Environment::of_process();
  base::log::set_level(environment.log_level);
  for (const std::string& complaint : environment.complaints) {
    base::log::warning("a setting cannot be as it is given", {{"reason", complaint}});
  }

  const auto done = *standalone ? run_standalone(options, environment)
                    : *cleanup  ? clean_up(environment)
                                : run_in_cluster(options, environment);
  if (!done) {
    base::log::error("cannot run", {{"reason", done.error().message()}});
    return 1;
  }
  return 0;
}
