#include "cli/lab_cluster.h"

#include <chrono>

#include <fmt/format.h>

#include "agent/manifests.h"
#include "base/file.h"
#include "cli/cluster.h"
#include "cli/install_manifests.h"
#include "cli/lab_cluster_manifests.h"
#include "cli/lab_manifests.h"
#include "cli/plan_cluster.h"
#include "lab/await.h"
#include "lab/kubernetes/join.h"
#include "lab/kubernetes/kube_proxy.h"

namespace cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 120s;  // A machine may be slow, or busy with something else.

// As dist/install.yaml names them.
constexpr const char* kNamespace = "ip-rule-operator-system";
constexpr const char* kControllerAccount = "ip-rule-operator-controller-manager";
constexpr const char* kAgentAccount = "iprule-agent";

constexpr const char* kShop = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

std::string environment_of_pods() {
  return fmt::format("POD_NAMESPACE={}", kNamespace);
}

}  // namespace

base::Result<std::unique_ptr<ClusterInstallation>> ClusterInstallation::make(lab::World& world, lab::Scene& scene,
                                                                             const LabPrograms& programs,
                                                                             Progress& progress) {
  constexpr std::size_t kSteps = 4;
  std::unique_ptr<ClusterInstallation> out(new ClusterInstallation(scene));
  progress.step("etcd and kube-apiserver", 0, kSteps);
  out->plane_ = TRY(lab::ControlPlane::start(programs.kubernetes));

  progress.step("install", 1, kSteps);
  std::vector<lab::AddressPair> addresses;
  for (lab::SceneNode& node : scene.nodes()) {
    constexpr int kFirst = 11;
    const int number = kFirst + static_cast<int>(addresses.size());
    addresses.push_back(TRY(lab::join(world, *node.host, *out->plane_, number)));
  }
  TRY(base::within("install", out->install(addresses)));

  progress.step("controller and agents", 2, kSteps);
  TRY(out->start_controller(world.here(), programs.controller));
  for (lab::SceneNode& node : scene.nodes()) TRY(out->add_agent(node, programs.agent));

  progress.step("kube-proxy", 3, kSteps);
  for (const lab::SceneNode& node : scene.nodes()) TRY(out->start_proxy(node));
  for (const lab::SceneNode& node : scene.nodes()) TRY(out->wait_for_proxy(node));
  return out;
}

base::Status ClusterInstallation::apply(std::string manifests) {
  TRY(plane_->kubectl({"apply", "--server-side", "-f", "-"}, std::move(manifests)));
  return {};
}

base::Status ClusterInstallation::install(const std::vector<lab::AddressPair>& addresses) {
  TRY(apply(install_manifests()));
  TRY(plane_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  const auto& nodes = scene_.nodes();
  const std::string with_status = lab_nodes(nodes, addresses) + lab_services(nodes);
  // Not by server-side apply, which takes the two addresses of a Node for one.
  TRY(plane_->kubectl({"create", "-f", "-"},
                      kShop + with_status + lab_endpoints(nodes) + lab_agents(nodes, kNamespace)));
  TRY(plane_->kubectl({"replace", "--subresource=status", "-f", "-"}, with_status));
  return {};
}

base::Status ClusterInstallation::start_controller(lab::Host& host, const std::filesystem::path& program) {
  const auto account = TRY(plane_->service_account(kNamespace, kControllerAccount));
  const auto access = TRY(plane_->write_kubeconfig(account));
  controller_ = TRY(host.start(
      {.arguments = {program.native(), "--kubeconfig=" + access.native()}, .environment = {environment_of_pods()}}));
  return {};
}

// The token is bound to the pod, and so to its node: the install lets an agent report for no other.
base::Status ClusterInstallation::add_agent(lab::SceneNode& node, const std::filesystem::path& program) {
  const auto account = TRY(plane_->service_account(kNamespace, kAgentAccount, lab_agent_pod(node)));
  const auto access = TRY(plane_->write_kubeconfig(account));
  nodes_.emplace_back(node, lab::Command{.arguments = {program.native(), "--kubeconfig=" + access.native()},
                                         .environment = {"NODE_NAME=" + node.name, environment_of_pods()}});
  return {};
}

base::Status ClusterInstallation::start_proxy(const lab::SceneNode& node) {
  proxies_[node.name] = TRY(lab::start_kube_proxy(*plane_, *node.host));
  return {};
}

// Until connections come out of the node again, wherever they then go.
base::Status ClusterInstallation::wait_for_proxy(const lab::SceneNode& node) {
  for (const net::Address& vip : node.vip) {
    base::Status seen;
    const auto translated = [&] {
      const auto tally = scene_.open_connections(node, vip, 1, 200ms);
      if (!tally) seen = std::unexpected(tally.error());
      return !tally || tally->replies_out.total() > 0;
    };
    if (!lab::await(kPatience, translated)) {
      return base::fail(base::Fault::timeout, fmt::format("kube-proxy of {} does not translate {}; it said: {}",
                                                          node.name, vip.text(), last_words(*proxies_[node.name])));
    }
    TRY(std::move(seen));
  }
  return {};
}

// All nodes follow the one IPRule, as long as somebody publishes what comes of it.
base::Status ClusterInstallation::ask_for(LabNode& node, std::string_view mode) {
  if (!controller_->running()) {
    return base::fail(base::Fault::unavailable, "iprule-controller has ended; it said: " + last_words(*controller_));
  }
  if (mode_ != mode) TRY(apply(lab_rule(mode)));
  mode_ = mode;
  return node.start_agent();
}

// It does not look after what it wrote; whoever lost that starts it again.
base::Status ClusterInstallation::restore_proxy(LabNode& node) {
  proxies_[node.scene().name]->kill();
  TRY(start_proxy(node.scene()));
  return wait_for_proxy(node.scene());
}

base::Result<LabQuestion> ClusterInstallation::plan(LabNode& node, std::string_view mode) {
  const auto file = std::filesystem::temp_directory_path() / "public-eu.yaml";
  TRY(base::write_file(file, lab_rule(mode)));
  const auto changes = TRY(agent::read_manifests(file));
  auto cluster = TRY(Cluster::connect({.kubeconfig = plane_->admin_kubeconfig()}));
  const std::string& name = node.scene().name;
  auto answer = TRY(plan_in_cluster(cluster.read_objects(), changes, {.nodes = {name}}));
  return LabQuestion{.prompt = "$",
                     .words = fmt::format("plan -f public-eu.yaml --field-selector metadata.name={}", name),
                     .answer = std::move(answer)};
}

std::vector<std::string> ClusterInstallation::ways_to_look() const {
  return {show_rules(), fmt::format("{} kubectl --kubeconfig={} get iprules,ipruleconfigs,nodestates",
                                    plane_->program().native(), plane_->admin_kubeconfig().native())};
}

}  // namespace cli
