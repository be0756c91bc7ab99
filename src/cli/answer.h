#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/page.h"

namespace cli {

enum class Output { text, json, yaml, wide, name };

// What a command found: for people, and the same for programs. `json` is a contract: an object with apiVersion and
// kind, whose fields are only ever added to.
struct Answer {
  Page page;
  std::string json;
  ExitCode code = ExitCode::fine;
  std::vector<std::string> names{};  // Of the objects that it lists: "node/worker-1".
};

std::string render(const Answer& answer, Output output, const Terminal& terminal);

}  // namespace cli
