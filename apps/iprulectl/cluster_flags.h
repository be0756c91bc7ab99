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
  std::vector<std::string> nodes;

  base::Result<cli::Cluster> connect() const;
};

void add_cluster_flags(CLI::App& word, ClusterFlags& flags);  // As kubectl has them.
void add_node_flag(CLI::App& word, ClusterFlags& flags);
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
