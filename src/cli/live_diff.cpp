#include "cli/live_diff.h"

#include "cli/assignment.h"

namespace cli {

base::Result<Answer> ask_diff(const ClusterObjects& objects, const std::string& node, const AskNode& ask,
                              const DiffView& view) {
  if (!objects.gaps.empty()) {
    return base::fail(base::Fault::unavailable, "not compared, because what is wanted of it is not known whole");
  }
  return ask(node, {.about = Question::About::diff, .wanted = assignment_of(objects, node), .view = view});
}

}  // namespace cli
