// What is asked of files: plan, diff, analyze, import.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/analyze.h"
#include "cli/import.h"
#include "cli/node_report.h"
#include "cli/plan_cluster.h"
#include "cli/plan_host.h"
#include "cluster_flags.h"
#include "commands.h"
#include "filename_flag.h"
#include "offline_flags.h"

namespace iprulectl {

Command plan_command(CLI::App& app, Common& common) {
  struct Options {
    Filenames manifests;
    OfflineFlags offline;
    ClusterFlags cluster;
    bool standalone = false;
    bool full = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("plan",
                                  "What manifests would change on the nodes of a cluster, or on this host. Nodes that "
                                  "--node names are asked, of all others objects tell");
  add_filename_flag(*word, options->manifests, "Manifests")->required();
  auto* standalone = word->add_flag("--standalone", options->standalone,
                                    "On this host, with the manifests as the whole of what is wanted there");
  add_offline_flags(*word, options->offline, {standalone});
  word->add_flag("--full", options->full, "Each node by itself, also those that would do the same");
  add_node_flags(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            std::filesystem::path state;
            if (options->offline.is_meant()) {
              auto folder = options->offline.folder();
              if (!folder) return complain(folder.error());
              state = *std::move(folder);
            }
            auto manifests = read_filenames(options->manifests, common);
            if (!manifests) return complain(manifests.error());
            if (options->standalone || !state.empty()) {
              const auto& nodes = options->cluster.nodes;
              return print(cli::plan_manifests({.manifests = *std::move(manifests),
                                                .state = state,
                                                .node = nodes.empty() ? host_name() : nodes.front()}),
                           common);
            }
            const auto plan = [&](cli::Cluster& cluster,
                                  const cli::ClusterObjects& objects) -> base::Result<cli::Answer> {
              const auto nodes = TRY(options->cluster.meant_nodes(cluster));
              return cli::plan_in_cluster(
                  objects, *manifests,
                  {.nodes = nodes, .full = options->full, .ask = options->cluster.asker(cluster, objects)});
            };
            return ask_cluster(options->cluster, common, plan);
          }};
}

Command diff_command(CLI::App& app, Common& common) {
  struct Options {
    std::filesystem::path folder = "/etc/iprule";
    cli::DiffView view;
    ClusterFlags cluster;
    bool standalone = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("diff",
                                  "What nodes have not done yet, or this host's kernel lacks of its folder. Nodes that "
                                  "--node names are asked, all others have reported");
  word->add_flag("--standalone", options->standalone, "This host's kernel against its standalone agent's folder");
  word->add_option("folder", options->folder, "That folder; /etc/iprule where none is given");
  add_choices(*word, "--class", options->view.classes, cli::DiffView::kClasses,
              "Only what is of these classes, separated by commas, of a kernel that is asked");
  word->add_flag("--foreign", options->view.foreign,
                 "Also the rules of others in a kernel that is asked, which are left alone");
  add_node_flags(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {
      .word = word, .run = [options, &common] {
        if (options->standalone) {
          return print(cli::diff_folder(options->folder, host_name(), options->view), common);
        }
        if (!options->view.is_whole() && options->cluster.nodes.empty()) {
          return complain({base::Fault::invalid,
                           "diff: --class and --foreign are about a kernel, and none is asked: name nodes with "
                           "--node, or --standalone"});
        }
        const auto diff = [&](cli::Cluster& cluster, const cli::ClusterObjects& objects) -> base::Result<cli::Answer> {
          const auto nodes = TRY(options->cluster.meant_nodes(cluster));
          return cli::diff_in_cluster(objects, nodes, now(), options->cluster.asker(cluster, objects), options->view);
        };
        return ask_cluster(options->cluster, common, diff);
      }};
}

Command analyze_command(CLI::App& app, Common& common) {
  struct Options {
    Filenames manifests;
    cli::AnalyzeOptions analyze;
    ClusterFlags cluster;
    std::vector<std::string> ignored;
    bool use_cluster = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("analyze", "What is wrong or surprising in manifests, or in a cluster");
  add_filename_flag(*word, options->manifests, "Manifests");
  word->add_flag("--use-cluster", options->use_cluster, "Of the cluster's objects, with the manifests laid over them");
  add_choice(*word, "--fail-on", options->analyze.fail_on, {"info", "warning", "error"},
             "Exit with 1 from this severity on; warning where none is given");
  word->add_option("--ignore", options->ignored, "Codes not to tell about")->delimiter(',')->type_name("CODES");
  add_cluster_flags(*word, options->cluster);
  add_list_flags(*word, common);
  return {.word = word, .run = [options, &common] {
            options->analyze.ignored = {options->ignored.begin(), options->ignored.end()};
            options->analyze.style = common.list_style();
            if (options->manifests.empty() && !options->use_cluster) {
              return complain({base::Fault::invalid, "analyze: name manifests with -f, or --use-cluster"});
            }
            const auto manifests = read_filenames(options->manifests, common);
            if (!manifests) return complain(manifests.error());
            if (!options->use_cluster) {
              return print(cli::analyze({.wanted = *manifests}, options->analyze), common);
            }
            return ask_cluster(options->cluster, common, [&](cli::Cluster&, cli::ClusterObjects objects) {
              objects.wanted = cli::laid_over(std::move(objects.wanted), *manifests);
              return cli::analyze(objects, options->analyze);
            });
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

}  // namespace iprulectl
