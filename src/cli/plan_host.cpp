#include "cli/plan_host.h"

#include <fmt/format.h>

#include "agent/manifests.h"
#include "agent/node_settings.h"
#include "agent/preview.h"
#include "cli/plan_page.h"
#include "cli/state_folder.h"

namespace cli {

base::Result<Answer> plan_manifests(const PlanOptions& options) {
  const auto manifests = TRY(agent::read_manifests(options.manifests));
  if (options.state.empty()) {
    const auto preview = TRY(agent::preview_here(manifests, options.node));
    return show_plan(preview.todo, {.title = fmt::format("{}, as its kernel is now", options.node),
                                    .skipped = preview.skipped,
                                    .doubt = preview.doubt});
  }
  // A dump does not say whether anything changed while it was made, but nobody acts on this plan.
  const state::Verified seen{.state = TRY(read_state_folder(options.state))};
  const auto preview = agent::preview(manifests, options.node, agent::settings_of(manifests, options.node), seen, {});
  return show_plan(preview.todo, {.title = fmt::format("a host with the rules of {}", options.state.native()),
                                  .skipped = preview.skipped,
                                  .doubt = preview.doubt});
}

base::Result<Answer> diff_folder(const std::filesystem::path& folder, const std::string& node) {
  const auto manifests = TRY(agent::read_manifests(folder));
  const auto preview = TRY(agent::preview_here(manifests, node));
  return show_plan(preview.todo,
                   {.title = fmt::format("{} against {}    + wanted, not in the kernel    - in the kernel, not wanted",
                                         node, folder.native()),
                    .kind = "Diff",
                    .skipped = preview.skipped,
                    .doubt = preview.doubt});
}

base::Result<Answer> diff_assignment(const Assignment& wanted) {
  const auto preview = TRY(agent::preview_here(published(wanted), wanted.node, wanted.settings));
  return show_plan(
      preview.todo,
      {.title = fmt::format("{}, its kernel asked now    + wanted, not in the kernel    - in the kernel, not wanted",
                            wanted.node),
       .kind = "Diff",
       .skipped = preview.skipped,
       .doubt = preview.doubt});
}

}  // namespace cli
