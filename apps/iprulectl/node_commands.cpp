// What is asked of nodes: doctor, drift.
#include <chrono>
#include <memory>
#include <optional>

#include "cli/doctor.h"
#include "cli/drift.h"
#include "cli/examine_nodes.h"
#include "cluster_flags.h"
#include "commands.h"

namespace iprulectl {

Command doctor_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    bool local = false;
    bool preflight = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("doctor", "What data paths show, and which source mode works on them");
  auto* local = word->add_flag("--local", options->local, "Of this host, by looking at it");
  word->add_flag("--preflight", options->preflight, "Of a cluster without agents: what is likely, by its API alone")
      ->excludes(local);
  word->add_option("--node", options->cluster.nodes,
                   "This node of the cluster, by asking its kernel; may be repeated. Without it, all of them, by what "
                   "their agents reported")
      ->type_name("NAME");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {
      .word = word, .run = [options, &common] {
        if (options->local) return print(cli::examine_host(), common);
        if (options->preflight) {
          auto cluster = options->cluster.connect();
          return cluster ? print(cli::show_preflight(cluster->read_setup()), common) : could_not_ask(cluster.error());
        }
        return ask_cluster(options->cluster, common, [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) {
          return cli::examine_nodes(objects, options->cluster.nodes, cluster.asker(objects));
        });
      }};
}

Command drift_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    int since = 0;  // Seconds; 0: whenever it began.
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("drift", "Where others keep changing what is ours, or have rules beside it");
  add_duration(*word, "--since", options->since, "Only what began or ended within so long, for example 1h");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            const auto since = options->since > 0 ? std::optional(std::chrono::seconds(options->since)) : std::nullopt;
            return ask_cluster(options->cluster, common, [&](cli::Cluster&, const cli::ClusterObjects& objects) {
              return cli::drift_in_cluster(objects, options->cluster.nodes, now(), since);
            });
          }};
}

}  // namespace iprulectl
