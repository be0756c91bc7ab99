#include "cli/plan_host.h"

#include <utility>

#include <fmt/format.h>

#include "agent/manifests.h"
#include "agent/node_settings.h"
#include "agent/preview.h"
#include "cli/findings.h"
#include "cli/plan_page.h"
#include "cli/state_folder.h"
#include "cli/steering_obstacles.h"

namespace cli {
namespace {

// The host's own addresses, as the kernel and the cluster know them; nothing where neither says any.
std::optional<std::set<net::Address>> addresses_here(const agent::Preview& preview,
                                                     const agent::NodeSettings& settings) {
  std::set<net::Address> out = preview.facts.own;
  out.insert(settings.addresses.begin(), settings.addresses.end());
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

// What stands in the way of what is wanted, on a host that shows this.
std::vector<Finding> obstacles_here(const agent::Preview& preview) {
  std::vector<Finding> out;
  for (SteeringObstacle& one : obstacles_to(preview.wanted, preview.facts)) {
    out.push_back(
        {.severity = Severity::warning, .code = std::move(one.code), .object = {}, .message = std::move(one.what)});
  }
  return out;
}

// With what is wrong in the manifests themselves, and what their modes come to behind this host's service proxy.
PlanStory story_of(const agent::Preview& preview, const agent::NodeSettings& settings, const PlanOptions& options) {
  NodeSight here{.name = options.node, .labels = settings.labels};
  here.facts.service_proxy = preview.facts.service_proxy;
  PlanStory out{.title = {}, .skipped = preview.skipped, .doubt = preview.doubt};
  out.findings = findings_in(options.manifests, {here});
  const auto obstacles = obstacles_here(preview);
  out.findings.insert(out.findings.end(), obstacles.begin(), obstacles.end());
  out.own = addresses_here(preview, settings);
  return out;
}

Answer show_diff(const agent::Preview& preview, const std::string& who, const DiffView& view) {
  return show_plan(preview.todo, {.title = who + "    + wanted, not in the kernel    - in the kernel, not wanted",
                                  .kind = "Diff",
                                  .skipped = preview.skipped,
                                  .doubt = preview.doubt,
                                  .view = view,
                                  .foreign = preview.foreign});
}

}  // namespace

base::Result<Answer> plan_manifests(const PlanOptions& options) {
  const agent::Manifests& manifests = options.manifests;
  const auto settings = agent::settings_of(manifests, options.node);
  if (options.state.empty()) {
    const auto preview = TRY(agent::preview_here(manifests, options.node));
    PlanStory story = story_of(preview, settings, options);
    story.title = fmt::format("{}, as its kernel is now", options.node);
    return show_plan(preview.todo, story);
  }
  // A dump does not say whether anything changed while it was made, but nobody acts on this plan.
  const state::Verified seen{.state = TRY(read_state_folder(options.state)).state};
  const auto preview = agent::preview(manifests, options.node, settings, seen, {});
  PlanStory story = story_of(preview, settings, options);
  story.title = fmt::format("a host with the rules of {}", options.state.native());
  return show_plan(preview.todo, story);
}

base::Result<Answer> plan_assignment(const Assignment& wanted) {
  const auto preview = TRY(agent::preview_here(published(wanted), wanted.node, wanted.settings));
  PlanStory story{.title = {}, .skipped = preview.skipped, .doubt = preview.doubt};
  story.findings = obstacles_here(preview);
  story.own = addresses_here(preview, wanted.settings);
  story.with_sum = false;  // Whoever asked has one for all nodes.
  return show_plan(preview.todo, story);
}

base::Result<Answer> diff_folder(const std::filesystem::path& folder, const std::string& node, const DiffView& view) {
  const auto manifests = TRY(agent::read_manifests(folder));
  const auto preview = TRY(agent::preview_here(manifests, node));
  return show_diff(preview, fmt::format("{} against {}", node, folder.native()), view);
}

base::Result<Answer> diff_assignment(const Assignment& wanted, const DiffView& view) {
  const auto preview = TRY(agent::preview_here(published(wanted), wanted.node, wanted.settings));
  return show_diff(preview, fmt::format("{}, its kernel asked now", wanted.node), view);
}

}  // namespace cli
