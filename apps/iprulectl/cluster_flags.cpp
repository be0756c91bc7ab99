#include "cluster_flags.h"

#include <chrono>
#include <map>
#include <unistd.h>

#include "base/log.h"
#include "cli/asked_nodes.h"

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

base::Result<std::vector<std::string>> ClusterFlags::meant_nodes(cli::Cluster& there) const {
  if (!has_selector()) return nodes;
  const auto found = TRY(there.select({"", "v1", "nodes", false}, selection()));
  std::vector<std::string> out;
  for (const kube::Key& key : found) out.push_back(key.name);
  if (out.empty()) return base::fail(base::Fault::invalid, "-l, --field-selector: no node is selected");
  return out;
}

cli::AskNode ClusterFlags::asker(cli::Cluster& there, const cli::ClusterObjects& objects) const {
  if (nodes.empty()) return {};
  return cli::with_progress(there.asker(objects), STDERR_FILENO, nodes.size());
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
  add_choice(word, "--via", flags.cluster.via, {"kubeconfig", "kubectl"},
             "kubectl: through its proxy, on a private socket, with every way of logging in that it knows");
  add_duration(word, "--request-timeout", flags.timeout, "For each question, for example 5s; 10s where none is given");
  word.add_option("-v,--v", flags.verbosity, "From 6 on, requests are told on standard error; never a token")
      ->type_name("N");
}

void add_node_flags(CLI::App& word, ClusterFlags& flags) {
  word.add_option("--node", flags.nodes, "Only this node of the cluster; may be repeated")->type_name("NAME");
  add_selector_flags(word, flags, "nodes");
}

void add_selector_flags(CLI::App& word, ClusterFlags& flags, const std::string& what) {
  auto* labels =
      word.add_option("-l,--selector", flags.label_selector, "Only " + what + " with these labels, a=b,c!=d");
  auto* fields = word.add_option("--field-selector", flags.field_selector, "Only " + what + " with these fields");
  labels->type_name("SELECTOR");
  fields->type_name("SELECTOR");
  if (auto* named = word.get_option_no_throw("--node"); named != nullptr) {
    labels->excludes(named);
    fields->excludes(named);
  }
}

meta::Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace iprulectl
