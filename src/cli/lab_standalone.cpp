#include "cli/lab_standalone.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/lab_manifests.h"
#include "cli/plan_host.h"
#include "lab/service_proxy.h"

namespace cli {
namespace {

std::filesystem::path folder_of(const lab::SceneNode& node) {
  return std::filesystem::temp_directory_path() / node.name;
}

// All that the folder holds from now on. Moved into its place whole: the agent never reads half of it.
base::Status write_manifests(const std::filesystem::path& folder, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  TRY(base::write_file(folder / ".shop.yaml", text));
  std::filesystem::rename(folder / ".shop.yaml", folder / "shop.yaml", error);
  if (error) return base::fail_errno(fmt::format("write {}", (folder / "shop.yaml").native()), error.value());
  return {};
}

}  // namespace

base::Result<std::unique_ptr<StandaloneInstallation>> StandaloneInstallation::make(lab::Scene& scene,
                                                                                   const std::filesystem::path& agent) {
  std::unique_ptr<StandaloneInstallation> out(new StandaloneInstallation(scene.nodes()));
  for (lab::SceneNode& node : scene.nodes()) {
    TRY(lab::translate_vips(node));
    out->nodes_.emplace_back(node, lab::Command{.arguments = {agent.native(), "standalone", folder_of(node).native()}});
  }
  return out;
}

base::Status StandaloneInstallation::ask_for(LabNode& node, std::string_view mode) {
  return ask_for_many(node, mode, 0);
}

base::Status StandaloneInstallation::ask_for_many(LabNode& node, std::string_view mode, int more_services) {
  TRY(write_manifests(folder_of(node.scene()),
                      lab_rule(mode) + lab_services(scene_nodes_) + lab_more_services(more_services)));
  return node.start_agent();
}

base::Status StandaloneInstallation::restore_proxy(LabNode& node) {
  return lab::translate_vips(node.scene());
}

base::Result<LabQuestion> StandaloneInstallation::plan(LabNode& node, std::string_view mode) {
  const auto file = std::filesystem::temp_directory_path() / "public-eu.yaml";
  TRY(base::write_file(file, lab_rule(mode) + lab_services(scene_nodes_)));
  const auto manifests = TRY(agent::read_manifests(file));
  const std::string& name = node.scene().name;
  const auto question = [&] { return plan_manifests({.manifests = manifests, .state = {}, .node = name}); };
  auto answer = TRY(node.answer(question));
  return LabQuestion{
      .prompt = name + " $", .words = "plan --standalone -f public-eu.yaml", .answer = std::move(answer)};
}

}  // namespace cli
