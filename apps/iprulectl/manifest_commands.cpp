// What is asked of files: plan, diff, analyze, import.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <climits>
#include <fmt/format.h>

#include "agent/manifests.h"
#include "cli/analyze.h"
#include "cli/gaps.h"
#include "cli/import.h"
#include "cli/node_report.h"
#include "cli/plan_cluster.h"
#include "cli/plan_host.h"
#include "cluster_flags.h"
#include "commands.h"

namespace iprulectl {
namespace {

std::string host_name() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "";
  return name.substr(0, name.find('\0'));
}

}  // namespace

Command plan_command(CLI::App& app, Common& common) {
  struct Options {
    cli::PlanOptions host;
    ClusterFlags cluster;
    bool standalone = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("plan", "What manifests would change on the nodes of a cluster, or on this host");
  word->add_option("-f,--filename", options->host.manifests, "File or folder of manifests; - is standard input")
      ->required();
  word->add_flag("--standalone", options->standalone,
                 "On this host, with the manifests as the whole of what is wanted there");
  word->add_option("--state", options->host.state,
                   "The same on a host whose rules are in this folder: rule.json (`ip -j rule`), rule6.json");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->standalone || !options->host.state.empty()) {
              const auto& nodes = options->cluster.nodes;
              options->host.node = nodes.empty() ? host_name() : nodes.front();
              return print(cli::plan_manifests(options->host), common);
            }
            const auto manifests = agent::read_manifests(options->host.manifests);
            if (!manifests) return complain(manifests.error());
            return ask_cluster(options->cluster, common, [&](cli::Cluster&, const cli::ClusterObjects& objects) {
              return cli::plan_in_cluster(objects, *manifests, options->cluster.nodes);
            });
          }};
}

Command diff_command(CLI::App& app, Common& common) {
  struct Options {
    std::filesystem::path folder = "/etc/iprule";
    ClusterFlags cluster;
    bool standalone = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("diff", "What nodes have not done yet, or this host's kernel lacks of its folder");
  word->add_flag("--standalone", options->standalone, "This host's kernel against its standalone agent's folder");
  word->add_option("folder", options->folder, "That folder; /etc/iprule where none is given");
  add_node_flag(*word, options->cluster);
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            if (options->standalone) return print(cli::diff_folder(options->folder, host_name()), common);
            return ask_cluster(options->cluster, common, [&](cli::Cluster&, const cli::ClusterObjects& objects) {
              return cli::diff_in_cluster(objects, options->cluster.nodes, now());
            });
          }};
}

Command analyze_command(CLI::App& app, Common& common) {
  struct Options {
    std::filesystem::path manifests;
    cli::AnalyzeOptions analyze;
    ClusterFlags cluster;
    std::vector<std::string> ignored;
    bool use_cluster = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("analyze", "What is wrong or surprising in manifests, or in a cluster");
  word->add_option("-f,--filename", options->manifests, "File or folder of manifests; - is standard input");
  word->add_flag("--use-cluster", options->use_cluster, "Of the cluster's objects, with the manifests laid over them");
  add_choice(*word, "--fail-on", options->analyze.fail_on, {"info", "warning", "error"},
             "Exit with 1 from this severity on; warning where none is given");
  word->add_option("--ignore", options->ignored, "Codes not to tell about")->delimiter(',')->type_name("CODES");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &common] {
            options->analyze.ignored = {options->ignored.begin(), options->ignored.end()};
            if (options->manifests.empty() && !options->use_cluster) {
              return complain({base::Fault::invalid, "analyze: name manifests with -f, or --use-cluster"});
            }
            const auto manifests = options->manifests.empty() ? base::Result<agent::Manifests>(agent::Manifests())
                                                              : agent::read_manifests(options->manifests);
            if (!manifests) return complain(manifests.error());
            if (!options->use_cluster) return print(cli::analyze(*manifests, options->analyze), common);
            return ask_cluster(options->cluster, common, [&](cli::Cluster&, const cli::ClusterObjects& objects) {
              cli::Answer answer = cli::analyze(cli::laid_over(objects.wanted, *manifests), options->analyze);
              cli::add_gaps(answer, objects.gaps);
              return answer;
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
