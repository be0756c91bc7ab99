#pragma once

#include <string>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/diff_view.h"

namespace cli {

// What a node's kernel lacks, or has too much, of what is published for it: a Diff. Not asked while something of that
// could not be read: what nobody knows of would look like something that nobody wants.
base::Result<Answer> ask_diff(const ClusterObjects& objects, const std::string& node, const AskNode& ask,
                              const DiffView& view = {});

}  // namespace cli
