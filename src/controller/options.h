#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace controller {

// What the command line says; names and defaults are those of the old project.
struct Options {
  std::filesystem::path kubeconfig;  // Empty: KUBECONFIG, or the pod's account.

  std::string probe_address = ":8081";  // "0": none.
  std::string metrics_address = "0";    // "0": none.
  bool metrics_secure = true;           // HTTPS, and only for callers whom the API server lets.
  std::filesystem::path metrics_cert_path;
  std::string metrics_cert_name = "tls.crt";
  std::string metrics_cert_key = "tls.key";

  std::chrono::milliseconds absent_delay{2000};  // How long an address may be away before its rule goes.

  bool leader_elect = false;
  std::string pod = "iprule-controller";  // Who speaks in Events.
  std::string agent_image;                // Of the agents, where the Agent names none.
  std::string ns;  // Where the controller runs and the Lease is; empty: what the kubeconfig or the pod's account says.
};

}  // namespace controller
