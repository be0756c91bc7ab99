#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/pod_trouble.h"
#include "base/result.h"
#include "json/reader.h"

namespace cli {

// Whether the agent of a node lives, by its pod: a report stays when its writer is gone.
struct AgentRun {
  std::string ns;
  std::string pod;
  std::string node;  // Where it runs, or is meant to.
  bool is_leaving = false;
  api::PodTrouble trouble;

  bool runs() const { return !is_leaving && trouble.kind == api::PodTrouble::Kind::none; }
  bool operator==(const AgentRun&) const = default;
};

base::Result<AgentRun> decode_agent_run(const json::Value& pod);

// One for each node: while a pod takes another's place, the one that runs, or else the one that stays.
std::map<std::string, AgentRun> runs_by_node(const std::vector<AgentRun>& runs);

// "its agent crashes: Error, exit code 1"; for a node without a pod as well.
std::string why_it_does_not_run(const AgentRun* run);

}  // namespace cli
