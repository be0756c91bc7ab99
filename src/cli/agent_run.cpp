#include "cli/agent_run.h"

#include <fmt/format.h>

#include "meta/meta.h"

namespace cli {

base::Result<AgentRun> decode_agent_run(const json::Value& pod) {
  const auto meta = TRY(meta::decode_meta(pod, meta::Keep::identity()));
  return AgentRun{.ns = meta.ns,
                  .pod = meta.name,
                  .node = TRY(api::node_of_pod(pod)),
                  .is_leaving = meta.terminating(),
                  .trouble = TRY(api::decode_pod_trouble(pod))};
}

std::map<std::string, AgentRun> runs_by_node(const std::vector<AgentRun>& runs) {
  std::map<std::string, AgentRun> out;
  for (const AgentRun& run : runs) {
    const auto [known, is_first] = out.try_emplace(run.node, run);
    if (is_first || known->second.runs()) continue;
    if (run.runs() || known->second.is_leaving) known->second = run;
  }
  return out;
}

std::string why_it_does_not_run(const AgentRun* run) {
  if (run == nullptr) return "no agent runs there";
  if (run->is_leaving) return "its agent is being stopped";
  switch (run->trouble.kind) {
    case api::PodTrouble::Kind::silent_node:
      return run->trouble.text;
    case api::PodTrouble::Kind::no_image:
      return fmt::format("its agent waits for its image: {}", run->trouble.text);
    default:
      return fmt::format("its agent {}", run->trouble.text);
  }
}

}  // namespace cli
