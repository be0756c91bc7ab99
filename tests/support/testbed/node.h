#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/scene.h"
#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/temp_folder.h"

namespace testbed {

// A real node: containerd, kubelet and kube-proxy, with pods on a bridge of their own, in namespaces that share nothing
// with the machine but the kernel. No registry: it has the images it was given. The cluster needs its controller
// manager, and its scheduler for what is not a DaemonSet.
class Node {
 public:
  // Ready on return. The host must have a default route; `number` is the last part of its address in the cluster, as
  // for join(); pods get 10.244.NUMBER.0/24 and fd00:10:244:NUMBER::/64. The first image must be the one named
  // kPauseImage.
  static base::Result<std::unique_ptr<Node>> start(Cluster& cluster, lab::World& world, lab::Host& host, int number,
                                                   const std::vector<std::filesystem::path>& images);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  static constexpr const char* kPauseImage = "testbed.local/pause:1";

  lab::Host& host() { return *host_; }
  const std::string& name() const { return host_->name(); }

  // What a program says that runs in the node's network; its error text if it fails.
  base::Result<std::string> run(std::vector<std::string> arguments);
  // Containers, cgroups and network namespaces of pods, one a line.
  std::string traces_of_pods();
  // What the containers of the pods whose name begins so have written, and the end of kubelet's own log.
  std::string logs(std::string_view pod) const;

 private:
  Node(lab::Host& host, int number, const lab::AddressPair& addresses);

  base::Status open_box();
  base::Status connect_pods(lab::World& world, const Cluster& cluster);
  base::Status start_containerd(const std::vector<std::filesystem::path>& images);
  base::Status start_kubelet(Cluster& cluster);
  std::vector<std::string> in_box(std::vector<std::string> arguments) const;

  lab::Host* host_;
  int number_;
  lab::AddressPair addresses_;  // In the cluster.
  TempFolder folder_;
  std::string cgroup_;
  lab::Process* box_ = nullptr;
  pid_t box_init_ = 0;
  std::list<Part> parts_;
};

}  // namespace testbed
