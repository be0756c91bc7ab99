#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "api/endpoint_slice.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node.h"
#include "api/published_config.h"
#include "api/service.h"
#include "base/result.h"

namespace agent {

// The objects of a folder of manifests: what an API server would have to say to the standalone agent.
struct Manifests {
  std::vector<api::IPRule> rules;
  std::vector<api::Service> services;
  std::vector<api::EndpointSlice> slices;
  std::vector<api::Node> nodes;
  std::vector<api::Agent> agents;  // The settings of the one that counts.
  std::size_t passed_over = 0;     // Objects of other kinds, which were not read.
};

// What to do about objects of kinds that say nothing to us. A folder that is the whole of what is wanted has none:
// there it is a mistake in writing. Files that somebody keeps for a cluster are full of them.
enum class OtherKinds : std::uint8_t { refuse, pass_over };

// Adds the objects of one YAML or JSON text (many documents, Lists too). Another kind, the same object twice, or a
// field that cannot be read is an error: "rules.yaml:7:10: spec.table: expected a number, found a string". A kind is
// known by its name and the group of its apiVersion, where that is there.
base::Status add_manifests(Manifests& manifests, std::string_view name, std::string_view text,
                           OtherKinds others = OtherKinds::refuse);

// All files *.yaml, *.yml and *.json of the folder, by name, as one set: an error in one of them is an error of all,
// because what the others say is not the whole. Hidden files are editors' and not read. Of a single file, what is in
// it; "-" is standard input.
base::Result<Manifests> read_manifests(const std::filesystem::path& path);
// The same of several, as one set.
base::Result<Manifests> read_manifests(std::span<const std::filesystem::path> paths, OtherKinds others);

// The Agent that counts; nullptr where there is none.
const api::Agent* active_agent(const Manifests& manifests);
// Of rules that name none.
std::uint32_t default_priority(const Manifests& manifests);

// The objects a controller would publish for them, were there an API server to hold them: whole, and as agents read
// them.
std::vector<api::IPRuleConfig> objects_to_publish(const Manifests& manifests);
std::vector<api::PublishedConfig> publish(const Manifests& manifests);

}  // namespace agent
