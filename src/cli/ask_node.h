#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/question.h"

namespace cli {

// Asks the kernel of a node of the cluster. An error says why it could not be asked; what is known of the node without
// that is in its NodeState.
using AskNode = std::function<base::Result<Answer>(const std::string& node, const Question& question)>;

}  // namespace cli
