// iprulectl status
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>

#include "agent/standalone_status.h"
#include "cli/progress.h"
#include "cli/standalone_page.h"
#include "cli/status.h"
#include "cluster_flags.h"
#include "commands.h"

namespace iprulectl {
namespace {

// Asks again and again: with `watch` for ever, printing what is new; with a time to wait until all is well.
struct Patience {
  bool watch = false;
  int wait = 0;  // Seconds; 0: not at all.
};

int show_cluster_status(const ClusterFlags& flags, const Patience& patience, const Common& common) {
  auto cluster = flags.connect();
  if (!cluster) return could_not_ask(cluster.error());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(patience.wait);
  cli::Progress progress(STDERR_FILENO);
  std::string last;
  while (true) {
    const cli::ClusterFacts facts = cluster->read_facts();
    const cli::Answer answer = cli::show_status(facts, now());
    const bool in_time = std::chrono::steady_clock::now() < deadline;
    if (patience.wait > 0) progress.step("nodes in sync", cli::nodes_in_sync(facts), facts.nodes.size());
    if (!patience.watch && (patience.wait == 0 || answer.code == cli::ExitCode::fine || !in_time)) {
      progress.clear();
      const int code = print(answer, common);
      const bool in_vain = patience.wait > 0 && answer.code == cli::ExitCode::attention;
      return in_vain ? static_cast<int>(cli::ExitCode::waited_in_vain) : code;
    }
    if (patience.watch && answer.json != last) print(answer, common);
    last = answer.json;
    std::this_thread::sleep_for(std::chrono::seconds(1));  // A person waits; one list a second is little to a server.
  }
}

}  // namespace

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

}  // namespace iprulectl
