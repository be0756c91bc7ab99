#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"

namespace cli {

// What runs in a cluster; nothing where it could not be asked.
struct ClusterVersions {
  std::string server;                                        // Kubernetes' own word: "v1.31.2".
  std::optional<std::vector<std::string>> controllers;       // By their images' tags; empty text where there is none.
  std::optional<std::map<std::string, std::size_t>> agents;  // How many nodes report which.
  std::vector<std::string> gaps;                             // What could not be asked, and why.
};

// This program's own version, and beside it what runs in the cluster. Our programs work together while they are of the
// same major version and at most one minor version apart; more than that is worth attention.
Answer show_version(std::string_view program, const std::optional<ClusterVersions>& cluster);

// Whether two releases are further apart than that; not where one of them cannot be read.
bool is_too_far(std::string_view one, std::string_view other);

// The release in the tag of an image: "0.3.0" of "registry:5000/iprule-controller:v0.3.0"; empty where there is none.
std::string version_in_image(std::string_view image);

}  // namespace cli
