#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "cli/lab_installation.h"
#include "cli/progress.h"
#include "lab/kubernetes/control_plane.h"
#include "lab/scene.h"
#include "lab/world.h"

namespace cli {

struct LabPrograms {
  std::filesystem::path kubernetes;  // Every Kubernetes program, by its first argument.
  std::filesystem::path controller;
  std::filesystem::path agent;
};

// A cluster of the lab's nodes: etcd and kube-apiserver, the real kube-proxy on every node, the operator's install, its
// controller, and its agents with the tokens of their pods. What nothing here does for them is done by the lab: it
// binds the pods, finds the endpoints, gives the load balancer's addresses, and starts the programs.
class ClusterInstallation final : public LabInstallation {
 public:
  static base::Result<std::unique_ptr<ClusterInstallation>> make(lab::World& world, lab::Scene& scene,
                                                                 const LabPrograms& programs, Progress& progress);

  std::string_view parts() const override { return "kube-proxy each, etcd and kube-apiserver with the install"; }
  base::Status ask_for(LabNode& node, std::string_view mode) override;
  base::Status restore_proxy(LabNode& node) override;
  base::Result<LabQuestion> plan(LabNode& node, std::string_view mode) override;
  std::vector<std::string> ways_to_look() const override;

 private:
  explicit ClusterInstallation(lab::Scene& scene) : scene_(scene) {}

  base::Status apply(std::string manifests);
  base::Status install(const std::vector<lab::AddressPair>& addresses);
  base::Status start_controller(lab::Host& host, const std::filesystem::path& program);
  base::Status add_agent(lab::SceneNode& node, const std::filesystem::path& program);
  base::Status start_proxy(const lab::SceneNode& node);
  base::Status wait_for_proxy(const lab::SceneNode& node);

  lab::Scene& scene_;
  std::unique_ptr<lab::ControlPlane> plane_;
  lab::Process* controller_ = nullptr;
  std::map<std::string, lab::Process*> proxies_;  // By node.
  std::string mode_;                              // That the cluster's IPRule has.
};

}  // namespace cli
