// iprule-controller: the cluster's side of the operator.
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/version.h"
#include "controller/service_rules.h"
#include "kube/client.h"
#include "kube/config.h"
#include "runtime/shutdown.h"

namespace {

base::Status run(const std::filesystem::path& kubeconfig) {
  runtime::Shutdown shutdown;
  const auto config = TRY(kube::load_config(kubeconfig, "", kube::Environment::of_process()));
  const auto client =
      TRY(kube::Client::connect(config, {.user_agent = "iprule-controller/" + std::string(base::version())}));
  base::log::info("started", {{"version", base::version_text("iprule-controller")}});
  controller::ServiceRules(*client).run(shutdown.token());
  base::log::info("stopped");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Publishes the rules that nodes should have", "iprule-controller");
  std::filesystem::path kubeconfig;
  app.set_version_flag("--version", base::version_text("iprule-controller"));
  app.add_option("--kubeconfig", kubeconfig, "Kubeconfig file; without it KUBECONFIG or the pod's account counts");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  if (const auto done = run(kubeconfig); !done) {
    base::log::error("cannot run", {{"reason", done.error().message()}});
    return 1;
  }
  return 0;
}
