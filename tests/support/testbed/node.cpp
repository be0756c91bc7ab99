#include "testbed/node.h"

#include <chrono>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "lab/kubernetes/join.h"
#include "lab/kubernetes/kube_proxy.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;

constexpr auto kNodeBound = 90s;  // Seven seconds on an idle machine.
constexpr const char* kBox = IPRULE_SOURCE_DIR "/tests/support/testbed/box";

// The line about oom_score_adj: runc may not lower it inside the sandbox.
constexpr const char* kContainerd = R"(version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
)";

constexpr const char* kPodNetwork =
    R"({{"cniVersion":"0.4.0","name":"pods","plugins":[{{"type":"bridge","bridge":"cni0",
"isGateway":true,"ipMasq":false,"ipam":{{"type":"host-local",
"ranges":[[{{"subnet":"10.244.{0}.0/24"}}],[{{"subnet":"fd00:10:244:{0}::/64"}}]],
"routes":[{{"dst":"0.0.0.0/0"}},{{"dst":"::/0"}}]}}}}]}}
)";

// A busy test machine must not make kubelet evict pods or wait long.
constexpr const char* kKubelet = R"(apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
address: {}
authentication: {{anonymous: {{enabled: false}}, webhook: {{enabled: true}}, x509: {{clientCAFile: {}}}}}
authorization: {{mode: Webhook}}
clusterDomain: cluster.local
failSwapOn: false
oomScoreAdj: 0
nodeStatusUpdateFrequency: 2s
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 50Mi, nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}}
)";

base::Result<std::string> output_of(const Command& command) {
  Finished done = TRY(testbed::run(command, kNodeBound));
  if (!done.exit.ok())
    return base::fail(base::Fault::invalid,
                      fmt::format("{}: {}{}", fmt::join(command.arguments, " "), done.output, done.errors));
  return std::move(done.output);
}

}  // namespace

Node::Node(lab::Host& host, int number, const lab::AddressPair& addresses)
    : host_(&host),
      number_(number),
      addresses_(addresses),
      cgroup_(fmt::format("iprule-test-{}-{}", ::getpid(), host.name())) {}

Node::~Node() {
  parts_.clear();
  if (box_ != nullptr) box_->kill();  // And with its first process, everything in it.
  (void)testbed::run({.arguments = {kBox, "remove", cgroup_}}, kNodeBound);
}

base::Result<std::unique_ptr<Node>> Node::start(Cluster& cluster, lab::World& world, lab::Host& host, int number,
                                                const std::vector<std::filesystem::path>& images) {
  const lab::AddressPair addresses = TRY(join(world, host, cluster, number));
  std::unique_ptr<Node> node(new Node(host, number, addresses));
  TRY(node->connect_pods(world, cluster));
  TRY(node->open_box());
  TRY(node->start_containerd(images));
  TRY(node->start_kubelet(cluster));
  TRY(start_kube_proxy(cluster, host));

  const auto ready = [&] {
    const auto condition = cluster.kubectl(
        {"get", "node", host.name(), "-o", R"(jsonpath={.status.conditions[?(@.type=="Ready")].status})"});
    return condition && *condition == "True";
  };
  if (!eventually(host.name() + " is Ready", kNodeBound, ready))
    return base::fail(base::Fault::unavailable, node->logs(""));
  return node;
}

// Pods have no address of the cluster's own network: the way to them and back, and to those of other nodes, is by
// route.
base::Status Node::connect_pods(lab::World& world, const Cluster& cluster) {
  TRY(host_->forward_packets());
  TRY(world.here().forward_packets());
  const auto lay = [](const lab::Host& from, const std::string& pods, const net::Address& gateway) {
    return output_of({.arguments = {"ip", "route", "add", pods, "via", gateway.text()}, .network = from.network()});
  };
  TRY(lay(*host_, "10.244.0.0/16", cluster.address()));
  TRY(lay(*host_, "fd00:10:244::/48", cluster.address6()));
  TRY(lay(world.here(), fmt::format("10.244.{}.0/24", number_), addresses_[0]));
  TRY(lay(world.here(), fmt::format("fd00:10:244:{}::/64", number_), addresses_[1]));
  return {};
}

base::Status Node::open_box() {
  const std::filesystem::path ready = folder_ / "ready";
  box_ = TRY(host_->start({.arguments = {kBox, "start", cgroup_, ready.native()}, .log = folder_ / "box.log"}));
  if (!eventually("the node's box", kNodeBound, [&] { return std::filesystem::exists(ready) || !box_->running(); }) ||
      !box_->running())
    return base::fail(base::Fault::unavailable, box_->output());
  const auto children =
      TRY(base::read_file(fmt::format("/proc/{0}/task/{0}/children", box_->pid())));  // Of unshare: just one.
  box_init_ = static_cast<pid_t>(std::stol(children));
  return {};
}

std::vector<std::string> Node::in_box(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {kBox, "enter", cgroup_, std::to_string(box_init_)});
  return arguments;
}

base::Status Node::start_containerd(const std::vector<std::filesystem::path>& images) {
  std::filesystem::create_directory(folder_ / "cni");
  TRY(base::write_file(folder_ / "cni/10-pods.conflist", fmt::format(kPodNetwork, number_)));
  TRY(base::write_file(folder_ / "containerd.toml", fmt::format(kContainerd, kPauseImage, (folder_ / "cni").native())));
  const auto ask = [this] {
    const auto answer = testbed::run({.arguments = in_box({"ctr", "version"})}, kNodeBound);
    return answer && answer->exit.ok();
  };
  parts_.emplace_back("containerd",
                      Command{.arguments = in_box({"containerd", "--config", (folder_ / "containerd.toml").native()}),
                              .log = folder_ / "containerd.log",
                              .network = host_->network()},
                      ask);
  TRY(parts_.back().restart());
  for (const auto& image : images)
    TRY(output_of({.arguments = in_box({"ctr", "--namespace=k8s.io", "images", "import", image.native()})}));
  return {};
}

base::Status Node::start_kubelet(Cluster& cluster) {
  const auto access = cluster.kubeconfig(cluster.user("system:node:" + name(), {"system:nodes"}));
  TRY(base::write_file(folder_ / "kubelet.yaml",
                       fmt::format(kKubelet, addresses_[0].text(), cluster.authority_file().native())));
  parts_.emplace_back(
      "kubelet",
      Command{
          .arguments = in_box({cluster.program().native(), "kubelet", "--config=" + (folder_ / "kubelet.yaml").native(),
                               "--kubeconfig=" + access.native(), "--hostname-override=" + name(),
                               fmt::format("--node-ip={},{}", addresses_[0].text(), addresses_[1].text())}),
          .log = folder_ / "kubelet.log",
          .network = host_->network()},
      [] { return true; });
  return parts_.back().restart();
}

base::Result<std::string> Node::run(std::vector<std::string> arguments) {
  return output_of({.arguments = std::move(arguments), .network = host_->network()});
}

std::string Node::traces_of_pods() {
  const auto listed = [](const base::Result<std::string>& answer) {
    return answer ? *answer : answer.error().message() + "\n";
  };
  return listed(output_of({.arguments = in_box({"ctr", "--namespace=k8s.io", "containers", "list", "--quiet"})})) +
         listed(output_of({.arguments = {"find", "/sys/fs/cgroup/memory/" + cgroup_, "-name", "pod*-*"}})) +
         listed(
             output_of({.arguments = {"ip", "-brief", "link", "show", "type", "veth"}, .network = host_->network()}));
}

std::string Node::logs(std::string_view pod) const {
  std::string text;
  std::error_code gone;
  const std::filesystem::path pods = fmt::format("/proc/{}/root/var/log/pods", box_init_);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(pods, gone)) {
    if (!entry.is_regular_file() || entry.path().native().find(pod) == std::string::npos) continue;
    text += fmt::format("---- {}\n{}", entry.path().lexically_relative(pods).native(),
                        base::read_file(entry.path()).value_or(""));
  }
  for (const Part& part : parts_) text += fmt::format("---- end of {}'s log\n{}", part.name(), part.log_tail());
  return text;
}

}  // namespace testbed
