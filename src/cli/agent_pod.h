#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/question.h"
#include "kube/client.h"

namespace cli {

// Asks the kernel of a node through the agent that runs there: `query` by exec in its pod, so that no port is open for
// it and the right to ask is one of Kubernetes' own. `ns`: where the agents' pods are.
base::Result<Answer> ask_agent(kube::Client& client, const std::string& ns, const std::string& node,
                               const Question& question, std::chrono::seconds timeout);

}  // namespace cli
