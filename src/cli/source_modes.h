#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/iprule.h"
#include "cli/reply_evidence.h"
#include "state/node_facts.h"

namespace cli {

// What decides about source modes on a node.
struct DataPath {
  state::ServiceProxy proxy = state::ServiceProxy::unknown;
  bool tells_replies = true;  // The kernel has what the mode Reply needs, as far as anybody knows.
  bool cilium = false;
  std::optional<ReplyBears> seen{};  // By connections, where there are any.
};

// Which source modes of an IPRule do something there; empty where nobody can tell.
struct SourceModes {
  std::vector<api::SourceMode> works{};  // The recommended one first.
  std::vector<api::SourceMode> fails{};
  std::optional<api::SourceMode> recommended{};
  std::string_view condition{};  // Under which those that work do.

  bool operator==(const SourceModes&) const = default;
};
SourceModes source_modes(const DataPath& path);

std::string works_text(const SourceModes& modes);  // "Reply (recommended), LocalEndpoints"
std::string fails_text(const SourceModes& modes);

}  // namespace cli
