#pragma once

#include <filesystem>
#include <memory>

#include "cli/lab_installation.h"
#include "lab/scene.h"

namespace cli {

// Every node has an agent of its own that reads its manifests from a folder, and the rules that kube-proxy would lay.
class StandaloneInstallation final : public LabInstallation {
 public:
  static base::Result<std::unique_ptr<StandaloneInstallation>> make(lab::Scene& scene,
                                                                    const std::filesystem::path& agent);

  std::string_view parts() const override { return "a service proxy each"; }
  base::Status ask_for(LabNode& node, std::string_view mode) override;
  base::Status restore_proxy(LabNode& node) override;
  base::Result<LabQuestion> plan(LabNode& node, std::string_view mode) override;
  std::vector<std::string> ways_to_look() const override { return {show_rules()}; }

  // The same with so many more Services for the node, in addresses that nobody talks to.
  base::Status ask_for_many(LabNode& node, std::string_view mode, int more_services);

 private:
  explicit StandaloneInstallation(const std::vector<lab::SceneNode>& nodes) : scene_nodes_(nodes) {}

  const std::vector<lab::SceneNode>& scene_nodes_;
};

}  // namespace cli
