// iprulectl doctor
#include <memory>

#include "cli/doctor.h"
#include "cli/examine_nodes.h"
#include "cli/question.h"
#include "cluster_flags.h"
#include "commands.h"
#include "offline_flags.h"

namespace iprulectl {

Command doctor_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    bool local = false;
    bool preflight = false;
    OfflineFlags offline;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("doctor", "What data paths show, and which source mode works on them");
  auto* local = word->add_flag("--local", options->local, "Of this host, by looking at it");
  auto* preflight =
      word->add_flag("--preflight", options->preflight, "Of a cluster without agents: what is likely, by its API alone")
          ->excludes(local);
  auto* node =
      word->add_option(
              "--node", options->cluster.nodes,
              "This node of the cluster, by asking its kernel; may be repeated. Without it, all of them, by what "
              "their agents reported")
          ->type_name("NAME");
  add_offline_flags(*word, options->offline, {local, preflight, node});
  add_selector_flags(*word, options->cluster, "nodes");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->offline.is_meant()) {
              const auto folder = options->offline.folder();
              return folder ? print(cli::examine_dumps(*folder), common) : complain(folder.error());
            }
            if (options->local) return print(cli::answer_here({.about = cli::Question::About::doctor}), common);
            if (options->preflight) {
              auto cluster = options->cluster.connect();
              return cluster ? print(cli::show_preflight(cluster->read_setup()), common)
                             : could_not_ask(cluster.error());
            }
            const auto examine = [&](cli::Cluster& cluster,
                                     const cli::ClusterObjects& objects) -> base::Result<cli::Answer> {
              const auto nodes = TRY(options->cluster.meant_nodes(cluster));
              return cli::examine_nodes(objects, nodes, options->cluster.asker(cluster, objects));
            };
            return ask_cluster(options->cluster, common, examine);
          }};
}

}  // namespace iprulectl
