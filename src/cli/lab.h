#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/page.h"
#include "cli/progress.h"

namespace cli {

struct LabOptions {
  std::filesystem::path agent;            // The iprule-agent program that is shown,
  std::filesystem::path controller;       // and the iprule-controller, where there is a cluster.
  std::filesystem::path kubernetes = {};  // Every Kubernetes program, by its first argument; empty: no cluster.
  std::string scenario = {};              // One of lab_scenarios(); empty: all of them, one after the other.
  std::filesystem::path captures = {};    // Folder to write what both gateways see into; empty: nowhere.
  std::string shell = {};                 // One of lab_hosts() to open a shell on at the end; empty: none.
  bool keep = false;                      // The world stays until we are interrupted.
};

struct LabScenario {
  std::string name;
  std::string what;
};
const std::vector<LabScenario>& lab_scenarios();
std::vector<std::string> lab_hosts();

// Where a lab is shown: what is known, as soon as it is, and how far the rest has come.
struct LabScreen {
  std::function<void(const Page&)> print;
  Progress& progress;
};

// Builds the example world inside the sandbox, sends real requests while the real agents hold an IPRule and others
// interfere, and prints what was counted at the gateways. True when every reply took the uplink it should. With
// Kubernetes programs the nodes are those of a cluster.
base::Result<bool> show_lab(const LabOptions& options, const LabScreen& screen);

}  // namespace cli
