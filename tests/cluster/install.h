#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "testbed/cluster.h"
#include "testbed/process.h"

// The default install on a real control plane, as tests of the controller need it: kinds, accounts, roles and policies
// are those of config/default; the controllers are started by the tests, with that install's account.
namespace install {

inline const std::string kNamespace = "ip-rule-operator-system";
inline const std::string kManager = "ip-rule-operator-controller-manager";

// With a controller manager and a scheduler; started and installed by the first that asks.
testbed::Cluster& cluster();

// Again, as an administrator does it: whatever of the install is missing is there on return, but for the Deployment.
void apply();

// A kubeconfig with a token of an account of the install.
std::filesystem::path kubeconfig(const std::string& account);

// What kubectl prints; a failure of the test if it fails.
std::string kubectl(std::vector<std::string> arguments, std::string input = {});

// A Node that pods can be bound to; nothing runs on it.
void add_node(const std::string& name);

// A controller under test, its two listeners plain and on ports of its own.
struct Controller {
  testbed::Process process;
  std::uint16_t probe_port;
  std::uint16_t metrics_port;

  testbed::Answer probe(const std::string& path) const;
  double metric(const std::string& series) const;  // -1: not there.
};
Controller start_controller(std::vector<std::string> flags = {}, std::vector<std::string> environment = {});

}  // namespace install
