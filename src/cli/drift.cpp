#include "cli/drift.h"

#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "agent/standalone_status.h"
#include "api/kinds.h"
#include "cli/age.h"
#include "cli/gaps.h"
#include "cli/live_diff.h"
#include "cli/plan_host.h"
#include "json/writer.h"

namespace cli {
namespace {

std::size_t drifting_nodes(const std::vector<DriftEntry>& entries) {
  std::set<std::string> nodes;
  for (const DriftEntry& entry : entries) {
    if (entry.goes_on) nodes.insert(entry.node);
  }
  return nodes.size();
}

void append(std::vector<DriftEntry>& to, std::vector<DriftEntry> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

base::Result<std::vector<DriftEntry>> ask_kernel(const ClusterObjects& objects, const std::string& node,
                                                 const AskNode& ask) {
  return kernel_drift(node, TRY(ask_diff(objects, node, ask)));
}

}  // namespace

base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const DriftOptions& options, meta::Time now,
                                      const AskNode& ask) {
  const auto names = TRY(chosen_nodes(objects, options.nodes));
  std::vector<DriftEntry> entries;
  std::vector<std::string> gaps;
  std::size_t asked = 0;
  for (const std::string& node : names) {
    std::vector<DriftEntry> reported;
    if (const api::NodeState* report = report_of(objects, node)) {
      reported = reported_drift(*report, options.since, now);
    }
    auto found = ask ? std::optional(ask_kernel(objects, node, ask)) : std::nullopt;
    if (found && *found) {
      ++asked;
      // What stands there now tells the kernel itself.
      std::erase_if(reported, [](const DriftEntry& one) { return one.type == "Foreign" || one.type == "Clashing"; });
      append(reported, **std::move(found));
    } else if (found) {
      gaps.push_back(fmt::format("the kernel of {}: {}", node, found->error().message()));
    }
    append(entries, std::move(reported));
  }
  Listing listing = drift_listing(entries, now);
  if (!options.style.sort_by.empty()) TRY(listing.sort(options.style.sort_by));

  Answer answer;
  listing.print(answer.page, options.style);
  const std::size_t drifting = drifting_nodes(entries);
  if (options.style.headers) {
    answer.page.line("{} of {} nodes report that others change what is ours, or stand beside it{}.{}", drifting,
                     names.size(), options.since ? fmt::format(", begun within {}", age_text(*options.since)) : "",
                     asked > 0 ? fmt::format("  Kernels asked: {}.", asked) : "");
  }
  if (drifting > 0) answer.code = ExitCode::attention;
  gaps.insert(gaps.end(), objects.gaps.begin(), objects.gaps.end());
  put_drift(answer, listing, gaps);
  return answer;
}

base::Result<std::vector<DriftEntry>> drift_here(const StandaloneHost& host, const Since& since, meta::Time now) {
  const Answer diff = TRY(diff_folder(host.folder, host.name));
  std::vector<DriftEntry> out = TRY(kernel_drift(host.name, diff));
  // Without a status nothing is known of repairs; what the kernel shows stands for itself.
  if (const auto status = agent::read_status(host.status_folder))
    append(out, standalone_drift(host.name, *status, since, now));
  return out;
}

base::Result<Answer> show_drift_here(const StandaloneHost& host, const Since& since, const ListStyle& style,
                                     meta::Time now) {
  const auto entries = TRY(drift_here(host, since, now));
  Listing listing = drift_listing(entries, now);
  if (!style.sort_by.empty()) TRY(listing.sort(style.sort_by));
  Answer answer;
  listing.print(answer.page, style);
  const bool drifts = drifting_nodes(entries) > 0;
  if (style.headers) {
    answer.page.line("{}: {}", host.name,
                     drifts ? "others change what is ours, or stand beside it." : "all of ours is as it should be.");
  }
  if (drifts) answer.code = ExitCode::attention;
  put_drift(answer, listing, {});
  return answer;
}

void put_drift(Answer& answer, const Listing& listing, const std::vector<std::string>& gaps) {
  add_gaps(answer, gaps);
  answer.names = listing.names();
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "DriftReport");
    out.array("drift", [&](json::Array& list) { listing.put(list); });
    put_gaps(out, gaps);
  });
}

}  // namespace cli
