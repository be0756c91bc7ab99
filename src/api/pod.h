#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "meta/meta.h"

namespace api {

// The pods of an agent's DaemonSet, in both projects.
inline constexpr std::string_view kAgentPodSelector = "app=iprule-agent";

// The slice of a core/v1 Pod that says on which node an agent runs, and which kind of agent.
struct Pod {
  static constexpr unsigned kPageSize = 100;  // Of some 10 KiB, with what it was asked to be and what became of it.
  static const json::Schema kMessage;

  meta::Meta meta;
  std::string node_name;  // Empty until the scheduler has bound it.
  bool is_ready = false;
  bool reports = false;  // By NodeState; an agent of the old project knows only annotations.

  bool operator==(const Pod&) const = default;
};

base::Result<Pod> decode_pod(const json::Value& object);

// Whether a change from one to the other can change what is expected of the node.
bool same_agent(const Pod& left, const Pod& right);

}  // namespace api
