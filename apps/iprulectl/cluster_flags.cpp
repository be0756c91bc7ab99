#include "cluster_flags.h"

#include <chrono>
#include <map>

#include "base/log.h"

namespace iprulectl {
namespace {

constexpr int kShowsRequests = 6;  // As kubectl's.

}  // namespace

base::Result<cli::Cluster> ClusterFlags::connect() const {
  if (verbosity >= kShowsRequests) base::log::set_level(base::log::Level::debug);
  cli::ClusterOptions options = cluster;
  options.timeout = std::chrono::seconds(timeout);
  return cli::Cluster::connect(options);
}

CLI::Option* add_duration(CLI::App& word, const std::string& flag, int& seconds, const std::string& description) {
  const std::map<std::string, int> units = {{"s", 1}, {"m", 60}, {"h", 3600}};
  return word.add_option(flag, seconds, description)
      ->transform(CLI::AsNumberWithUnit(units))
      ->check(CLI::PositiveNumber)
      ->type_name("DURATION");
}

void add_cluster_flags(CLI::App& word, ClusterFlags& flags) {
  word.add_option("--kubeconfig", flags.cluster.kubeconfig, "Kubeconfig file; else KUBECONFIG or ~/.kube/config");
  word.add_option("--context", flags.cluster.context, "Context of the kubeconfig");
  word.add_option("--cluster", flags.cluster.cluster, "Cluster of the kubeconfig, instead of the context's");
  word.add_option("--user", flags.cluster.user, "User of the kubeconfig, instead of the context's");
  word.add_option("--as", flags.cluster.as, "User to be for the server, where it lets you");
  word.add_option("--as-group", flags.cluster.as_groups, "Group of that user; may be repeated")->type_name("GROUP");
  add_duration(word, "--request-timeout", flags.timeout, "For each question, for example 5s; 10s where none is given");
  word.add_option("-v,--v", flags.verbosity, "From 6 on, requests are told on standard error; never a token")
      ->type_name("N");
}

void add_node_flag(CLI::App& word, ClusterFlags& flags) {
  word.add_option("--node", flags.nodes, "Only this node of the cluster; may be repeated")->type_name("NAME");
}

meta::Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace iprulectl
