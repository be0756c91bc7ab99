#pragma once

#include <filesystem>
#include <string>

#include "agent/manifests.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/assignment.h"
#include "cli/diff_view.h"

namespace cli {

struct PlanOptions {
  agent::Manifests manifests;
  std::filesystem::path state;  // A folder of dumps instead of this host's kernel; see state_folder.h.
  std::string node;
};

// What the manifests, as the whole of what is wanted, would change.
base::Result<Answer> plan_manifests(const PlanOptions& options);

// What this host's kernel would change if a cluster asked this of it.
base::Result<Answer> plan_assignment(const Assignment& wanted);

// What this host's kernel lacks of the folder that its agent keeps, or has too much.
base::Result<Answer> diff_folder(const std::filesystem::path& folder, const std::string& node,
                                 const DiffView& view = {});

// What it lacks, or has too much, of what a cluster asks of it.
base::Result<Answer> diff_assignment(const Assignment& wanted, const DiffView& view = {});

}  // namespace cli
