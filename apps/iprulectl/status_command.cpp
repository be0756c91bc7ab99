// iprulectl status
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "agent/presence.h"
#include "agent/standalone_status.h"
#include "base/clock.h"
#include "cli/cluster_objects.h"
#include "cli/progress.h"
#include "cli/standalone_page.h"
#include "cli/status.h"
#include "cli/status_nodes.h"
#include "cluster_flags.h"
#include "commands.h"
#include "runtime/signal.h"

namespace iprulectl {
namespace {

// With `watch` it goes on for ever, printing what is new; with a time to wait until all is well.
struct Patience {
  bool watch = false;
  int wait = 0;  // Seconds; 0: not at all.
};

struct Options {
  ClusterFlags cluster;
  Patience patience;
  bool nodes = false;
  bool standalone = false;
  std::filesystem::path status_folder = "/run/iprule";
};

// A roll-out of the usual size is over long before.
constexpr const char* kUsualWait = "5m";

using Show = std::function<base::Result<cli::Answer>(const cli::ClusterFacts&)>;

// The nodes that are meant, also those without a report; a gap where nodes may not be listed.
base::Result<Show> show_nodes(const Options& options, cli::Cluster& cluster, const Common& common) {
  cli::ClusterObjects known;
  std::vector<std::string> names = TRY(options.cluster.meant_nodes(cluster));
  if (const auto all = cluster.select({"", "v1", "nodes", false}, {})) {
    for (const kube::Key& node : *all) known.wanted.nodes.emplace_back().meta.name = node.name;
  } else {
    known.gaps.push_back("nodes: " + all.error().message());
  }
  names = TRY(cli::chosen_nodes(known, names));
  return [names, gaps = known.gaps, style = common.list_style()](const cli::ClusterFacts& told) {
    cli::ClusterFacts facts = told;
    facts.gaps.insert(facts.gaps.end(), gaps.begin(), gaps.end());
    return cli::show_nodes(facts, names, now(), style);
  };
}

base::Result<Show> what_to_show(const Options& options, cli::Cluster& cluster, const Common& common) {
  if (options.nodes) return show_nodes(options, cluster, common);
  return [](const cli::ClusterFacts& facts) -> base::Result<cli::Answer> { return cli::show_status(facts, now()); };
}

// Hears what changes. Time alone makes a leader silent and moves the bar, so we look at what is known once a second;
// the server is not asked for that.
int follow(cli::Cluster& cluster, const Show& show, const Patience& patience, const Common& common) {
  constexpr std::chrono::seconds kLook{1};
  runtime::Signal changed;
  const auto followed = cluster.follow(changed);
  const auto deadline = base::SteadyClock().now() + std::chrono::seconds(patience.wait);
  cli::Progress progress(STDERR_FILENO);
  std::string last;
  while (true) {
    const auto time = base::SteadyClock().now();
    const bool over = !patience.watch && time >= deadline;
    if (followed->is_known() || over) {
      const cli::ClusterFacts facts = followed->latest();
      const auto answer = show(facts);
      if (!answer) return complain(answer.error());
      if (!patience.watch) progress.step("nodes in sync", cli::nodes_in_sync(facts), facts.nodes.size());
      const bool is_done = answer->code == cli::ExitCode::fine && cli::rules_under_way(facts) == 0;
      if (!patience.watch && (over || is_done)) {
        progress.clear();
        const int code = print(*answer, common);
        const bool in_vain = !is_done && answer->code != cli::ExitCode::could_not_ask;
        return in_vain ? static_cast<int>(cli::ExitCode::waited_in_vain) : code;
      }
      if (patience.watch && answer->json != last) print(*answer, common);
      last = answer->json;
    }
    (void)changed.wait({}, patience.watch ? time + kLook : std::min(time + kLook, deadline));  // Either way: look.
  }
}

int show_cluster_status(const Options& options, const Common& common) {
  auto cluster = options.cluster.connect();
  if (!cluster) return could_not_ask(cluster.error());
  const auto show = what_to_show(options, *cluster, common);
  if (!show) return complain(show.error());
  const bool follows = options.patience.watch || options.patience.wait > 0;
  return follows ? follow(*cluster, *show, options.patience, common) : print((*show)(cluster->read_facts()), common);
}

int show_host_status(const Options& options, const Common& common) {
  const auto status = agent::read_status(options.status_folder);
  if (!status) return could_not_ask(status.error());
  const auto runs = agent::is_announced(options.status_folder);
  return runs ? print(cli::show_standalone(*status, *runs), common) : could_not_ask(runs.error());
}

}  // namespace

Command status_command(CLI::App& app, Common& common) {
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("status", "One screen: components, problems by cause, the next step");
  add_cluster_flags(*word, options->cluster);
  add_duration(*word, "--wait", options->patience.wait,
               "Until all is well and nothing is under way, at most so long, for example 60s")
      ->expected(0, 1)
      ->default_str(kUsualWait);
  word->add_flag("-w,--watch", options->patience.watch, "Go on, and print what is new");
  word->add_flag("--nodes", options->nodes, "A row for each node instead");
  add_node_flags(*word, options->cluster);
  word->add_flag("--standalone", options->standalone, "Of this host's standalone agent instead of a cluster")
      ->excludes("--nodes");
  word->add_option("--status-directory", options->status_folder,
                   "Where that agent keeps its status; /run/iprule where none is given");
  add_list_flags(*word, common);
  return {.word = word, .run = [options, &common] {
            const bool wants_nodes =
                common.wants_list() || options->cluster.has_selector() || !options->cluster.nodes.empty();
            if (wants_nodes && !options->nodes) {
              return complain({base::Fault::invalid,
                               "status: -o wide, -o name, --no-headers, --sort-by, --node and selectors are for "
                               "--nodes, a row for each node"});
            }
            if (!options->standalone) return show_cluster_status(*options, common);
            return show_host_status(*options, common);
          }};
}

}  // namespace iprulectl
