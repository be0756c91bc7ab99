#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "api.h"
#include "base/file.h"
#include "json/reader.h"
#include "json/yaml.h"
#include "testbed/cluster.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

// What the tests of the install share: the rendered manifests as objects, and the cluster that has them.
namespace install_test {

using api_test::kBound;
using api_test::must;
using api_test::soon;

inline const std::filesystem::path kSource = IPRULE_SOURCE_DIR;
inline const std::vector<std::string> kOverlays{"default", "overlays/iprule-system", "overlays/system"};

inline const std::string kNamespace = "ip-rule-operator-system";
inline const std::string kController = "ip-rule-operator-controller-manager";
inline const std::string kControllerUser = "system:serviceaccount:" + kNamespace + ":" + kController;
inline const std::string kAgentUser = "system:serviceaccount:" + kNamespace + ":iprule-agent";

// As `make deploy` and `make build-installer` render it: `words` are the overlay and the components.
inline std::string render(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}) {
  testbed::Command command{.arguments = {(kSource / ".ci/render").native()}, .environment = environment};
  command.environment.push_back("KUBECTL=" + testbed::shared_cluster().program().native() + " kubectl");
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  testbed::Finished done = must(testbed::run(command, std::chrono::minutes(2)));
  EXPECT_TRUE(done.exit.ok()) << done.errors;
  return std::move(done.output);
}

inline std::string text_at(const json::Value& value) {
  return std::string(must(value.string_or("")));
}

inline std::vector<std::string> texts_at(const json::Value& list) {
  std::vector<std::string> texts;
  const auto items = must(list.items_or_none());
  for (const json::Value& item : items) texts.emplace_back(must(item.string()));
  return texts;
}

// One document of a manifest; what it says stays readable as long as it lives.
struct Object {
  explicit Object(const std::string& text)
      : root(must(reader.parse(text))),
        kind(text_at(root["kind"])),
        name_space(text_at(root["metadata"]["namespace"])),
        name(text_at(root["metadata"]["name"])) {}

  json::Reader reader;
  json::Value root;
  std::string kind;
  std::string name_space;
  std::string name;
};

inline std::vector<Object> objects_of(std::string_view yaml) {
  std::vector<Object> objects;
  const auto documents = must(json::from_yaml(yaml));
  for (const std::string& document : documents) objects.emplace_back(document);
  return objects;
}

// The cluster with dist/install.yaml applied, as its README says.
inline testbed::Cluster& installed() {
  static const bool once = [] {
    testbed::Cluster& cluster = testbed::shared_cluster();
    must(cluster.kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()}));
    must(cluster.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
    return true;
  }();
  (void)once;
  return testbed::shared_cluster();
}

}  // namespace install_test
