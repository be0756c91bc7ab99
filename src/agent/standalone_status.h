#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/manifests.h"
#include "agent/node_loop.h"
#include "api/node_state.h"
#include "base/result.h"

namespace agent {

// What the standalone agent says of itself, in a file that everybody on the host may read.
struct StandaloneStatus {
  struct Rule {
    std::string name;
    std::string reason;  // As in the condition Accepted: Valid, PartiallyInvalid, InvalidCIDR, ...
    std::string message;
    std::int32_t services = 0;  // With an address in its prefixes.
    std::int32_t vips = 0;      // Steered by it.

    template <typename Self, typename Visitor>
    static void fields(Self& self, Visitor& visit) {
      visit.required("name", self.name);
      visit("reason", self.reason);
      visit("message", self.message);
      visit.always("matchedServices", self.services);
      visit.always("matchedVIPs", self.vips);
    }
    bool operator==(const Rule&) const = default;
  };

  std::string folder;
  bool once = false;                           // It was applied, and no agent was to stay.
  std::string trouble;                         // Why the folder cannot be read; the last good set is in force then.
  bool settled = false;                        // The kernel is as wanted, and that was read back.
  std::string waiting;                         // What it still lacks.
  std::int64_t kernel_rules = 0;               // Of ours.
  std::int64_t repairs = 0;                    // Of what others had changed, since the agent began.
  bool drifting = false;                       // The same ones, again and again.
  std::vector<api::NodeState::Drifted> drift;  // What they were, the latest first, and rules of others beside ours.
  std::vector<Rule> rules;
  std::vector<api::NodeState::Failed> failed;            // Not programmed as they say.
  std::vector<api::NodeState::EmptyTable> empty_tables;  // Looked up by our rules, and without a route.
  std::vector<std::string> strict_devices;               // Whose reverse path filter drops what is steered by marks.
  std::vector<std::string> clashes;                      // Rules of others for the same packets at the same priority.

  template <typename Self, typename Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit.required("folder", self.folder);
    visit("once", self.once);
    visit("trouble", self.trouble);
    visit.always("settled", self.settled);
    visit("waiting", self.waiting);
    visit.always("kernelRules", self.kernel_rules);
    visit("repairs", self.repairs);
    visit("drifting", self.drifting);
    visit("drift", self.drift);
    visit("rules", self.rules);
    visit("failed", self.failed);
    visit("emptyTables", self.empty_tables);
    visit("strictDevices", self.strict_devices);
    visit("clashes", self.clashes);
  }
  bool operator==(const StandaloneStatus&) const = default;
};

std::string encode(const StandaloneStatus& status);
base::Result<StandaloneStatus> decode_standalone_status(std::string_view text);

// What became of the IPRules of a folder.
std::vector<StandaloneStatus::Rule> rules_of(const Manifests& manifests);

// Takes what one look came to into the status.
void take(StandaloneStatus& status, const Looked& looked);

inline constexpr std::string_view kStatusFile = "status.json";

// Replaces the file in `folder`, whole, where it says something else.
base::Status write_status(const std::filesystem::path& folder, const StandaloneStatus& status);
base::Result<StandaloneStatus> read_status(const std::filesystem::path& folder);

}  // namespace agent
