// iprulectl drift
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/folder_watch.h"
#include "cli/drift.h"
#include "cli/drift_news.h"
#include "cluster_flags.h"
#include "commands.h"
#include "kernel/monitor.h"
#include "runtime/signal.h"

namespace iprulectl {
namespace {

struct Options {
  ClusterFlags cluster;
  int since = 0;  // Seconds; 0: whenever it began.
  bool watch = false;
  bool standalone = false;
  std::filesystem::path folder = "/etc/iprule";
  std::filesystem::path status_folder = "/run/iprule";

  cli::Since within() const { return since > 0 ? cli::Since(std::chrono::seconds(since)) : std::nullopt; }
  cli::StandaloneHost host() const { return {.name = host_name(), .folder = folder, .status_folder = status_folder}; }
};

struct Seen {
  std::vector<cli::DriftEntry> entries;
  std::vector<std::string> gaps;
};
using Look = std::function<std::optional<Seen>()>;  // Nothing while nothing is known.

// A line for each thing that begins, changes or ends; looks whenever told to.
[[noreturn]] void follow(runtime::Signal& changed, const Look& look, const Common& common) {
  cli::DriftNews news;
  cli::ListStyle style = common.list_style();
  std::vector<std::string> told;
  while (true) {
    if (const auto seen = look()) {
      const auto fresh = news.take(seen->entries, seen->gaps);
      const auto gaps = seen->gaps != told ? seen->gaps : std::vector<std::string>();
      told = seen->gaps;
      if (!fresh.empty() || !gaps.empty()) print(cli::show_drift_news(fresh, gaps, style, now()), common);
      if (!fresh.empty()) style.headers = false;
    }
    (void)changed.wait({});
  }
}

int watch_cluster(const Options& options, const Common& common) {
  auto cluster = options.cluster.connect();
  if (!cluster) return could_not_ask(cluster.error());
  auto names = options.cluster.meant_nodes(*cluster);
  if (!names) return complain(names.error());
  if (!names->empty()) {  // A name that is wrong would be waited for in vain.
    names = cli::chosen_nodes(cluster->read_objects(), *names);
    if (!names) return complain(names.error());
  }
  runtime::Signal changed;
  const auto reports = cluster->follow_reports(changed);
  const auto look = [&]() -> std::optional<Seen> {
    if (!reports->is_known()) return std::nullopt;
    Seen out;
    std::vector<api::NodeState> nodes;
    reports->take(nodes, out.gaps);
    for (const api::NodeState& node : nodes) {
      if (!names->empty() && std::ranges::find(*names, node.meta.name) == names->end()) continue;
      const auto found = cli::reported_drift(node, {}, now());
      out.entries.insert(out.entries.end(), found.begin(), found.end());
    }
    return out;
  };
  follow(changed, look, common);
}

// Told by the kernel of every change, and by the agent's status of every repair.
int watch_host(const Options& options, const Common& common) {
  const cli::StandaloneHost host = options.host();
  if (const auto first = cli::drift_here(host, {}, now()); !first) return complain(first.error());
  runtime::Signal changed;
  const auto kernel = kernel::Monitor::start(0, changed);
  if (!kernel) return could_not_ask(kernel.error());
  const auto status = agent::FolderWatch::start(host.status_folder, changed);  // None: no agent tells of repairs.
  const auto look = [&]() -> std::optional<Seen> {
    auto found = cli::drift_here(host, {}, now());
    if (!found) return Seen{.entries = {}, .gaps = {found.error().message()}};
    return Seen{.entries = *std::move(found), .gaps = {}};
  };
  follow(changed, look, common);
}

int show_cluster(const Options& options, const Common& common) {
  const auto drift = [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) -> base::Result<cli::Answer> {
    const auto nodes = TRY(options.cluster.meant_nodes(cluster));
    return cli::drift_in_cluster(objects, {.nodes = nodes, .since = options.within(), .style = common.list_style()},
                                 now(), options.cluster.asker(cluster, objects));
  };
  return ask_cluster(options.cluster, common, drift);
}

}  // namespace

Command drift_command(CLI::App& app, Common& common) {
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("drift",
                                  "What others changed of ours, or have beside it, and what was done about it, by "
                                  "reports; the kernels of nodes that --node names are asked besides");
  auto* since = add_duration(*word, "--since", options->since,
                             "Only what began, ended or was repaired within so long, for example 1h");
  word->add_flag("--standalone", options->standalone,
                 "This host's kernel against its standalone agent's folder, and what that repaired");
  word->add_option("folder", options->folder, "That folder; /etc/iprule where none is given");
  word->add_option("--status-directory", options->status_folder,
                   "Where that agent keeps its status; /run/iprule where none is given");
  add_node_flags(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_list_flags(*word, common);
  word->add_flag("-w,--watch", options->watch,
                 "Go on, and print a line for each that begins, changes or ends, by reports")
      ->excludes(since)
      ->excludes("--sort-by");
  return {.word = word, .run = [options, &common] {
            if (options->watch) {
              return options->standalone ? watch_host(*options, common) : watch_cluster(*options, common);
            }
            if (options->standalone)
              return print(cli::show_drift_here(options->host(), options->within(), common.list_style(), now()),
                           common);
            return show_cluster(*options, common);
          }};
}

}  // namespace iprulectl
