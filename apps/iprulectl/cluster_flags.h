#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cluster.h"
#include "command_line.h"
#include "meta/time.h"

namespace iprulectl {

// Which cluster to ask, as whom, and how long.
struct ClusterFlags {
  cli::ClusterOptions cluster;
  int timeout = 10;
  int verbosity = 0;
  std::vector<std::string> nodes;  // Those that --node names: their kernels are asked, where a command asks kernels.
  std::string label_selector;      // Or those that selectors find: reports have to do.
  std::string field_selector;

  base::Result<cli::Cluster> connect() const;
  // The nodes that are meant; none: all. An error where a selector finds none.
  base::Result<std::vector<std::string>> meant_nodes(cli::Cluster& there) const;
  // Asks the kernels of the nodes that are named; nobody where none is: a whole cluster is not asked one by one.
  cli::AskNode asker(cli::Cluster& there, const cli::ClusterObjects& objects) const;
  bool has_selector() const { return !label_selector.empty() || !field_selector.empty(); }
  kube::Selection selection() const { return {.label_selector = label_selector, .field_selector = field_selector}; }
};

void add_cluster_flags(CLI::App& word, ClusterFlags& flags);  // As kubectl has them.
void add_node_flags(CLI::App& word, ClusterFlags& flags);     // --node, -l, --field-selector
void add_selector_flags(CLI::App& word, ClusterFlags& flags, const std::string& what);
// "90s", "5m", "2h"
CLI::Option* add_duration(CLI::App& word, const std::string& flag, int& seconds, const std::string& description);

meta::Time now();

// What a cluster's objects, and where need be its nodes, say through `show(cluster, objects)`.
template <typename Show>
int ask_cluster(const ClusterFlags& flags, const Common& common, Show show) {
  auto cluster = flags.connect();
  if (!cluster) return could_not_ask(cluster.error());
  const cli::ClusterObjects objects = cluster->read_objects();
  return print(show(*cluster, objects), common);
}

}  // namespace iprulectl
