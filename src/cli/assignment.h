#pragma once

#include <string>
#include <vector>

#include "agent/manifests.h"
#include "agent/node_settings.h"
#include "api/agent.h"
#include "api/iprule_config.h"
#include "api/published_config.h"
#include "base/result.h"
#include "cli/cluster_objects.h"
#include "json/reader.h"
#include "json/writer.h"

namespace cli {

// What a cluster asks of one of its nodes. It travels with a question, because whoever answers on the node asks no API
// server.
struct Assignment {
  std::string node;
  agent::NodeSettings settings;
  std::vector<api::IPRuleConfig> configs;
};

// What the cluster says of a node besides the published objects, as its agent hears it.
agent::NodeSettings settings_on(const ClusterObjects& objects, const std::string& node);

// By the objects that are published.
Assignment assignment_of(const ClusterObjects& objects, const std::string& node);
// By those that a controller would publish for what is wanted; an error where not all of that is known.
base::Result<Assignment> supposed_assignment(const ClusterObjects& objects, const std::string& node);
// By manifests, as the whole of what is wanted of a host.
Assignment supposed_assignment(const agent::Manifests& manifests, const std::string& host);

// As its agent reads them.
std::vector<api::PublishedConfig> published(const Assignment& assignment);

void put(json::Object& out, const Assignment& assignment);
base::Result<Assignment> decode_assignment(const json::Value& value);
base::Result<api::Dataplane> decode_dataplane(const json::Value& value);  // The default where it says nothing.

}  // namespace cli
