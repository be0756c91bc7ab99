#pragma once

#include <functional>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_line.h"

namespace iprulectl {

// A word of the command line and what it does: its exit code.
struct Command {
  CLI::App* word;
  std::function<int()> run;
};

// All there are, added to `app`. Both arguments must outlive them.
std::vector<Command> add_commands(CLI::App& app, Common& common, char** argv);

}  // namespace iprulectl
