#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace agent {

struct StandaloneOptions {
  std::filesystem::path folder;
  std::filesystem::path status_folder;  // Where to say how it goes; empty: nowhere.
  std::string node;
  std::chrono::milliseconds audit = std::chrono::seconds(30);
};

// A host without Kubernetes: a folder of manifests takes the API server's place. Until stopped.
base::Status run_standalone(const StandaloneOptions& options, std::stop_token stop);

// One look at both sides. An error where the folder cannot be read or something could not be applied.
base::Status apply_once(const StandaloneOptions& options, std::stop_token stop);

}  // namespace agent
