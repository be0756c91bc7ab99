#pragma once

#include <functional>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_line.h"

namespace iprulectl {

// A word of the command line and what it does: its exit code. What its flags are written to lives in a shared_ptr that
// the function holds.
struct Command {
  CLI::App* word;
  std::function<int()> run;
};

// All there are, added to `app`. Both arguments must outlive them.
std::vector<Command> add_commands(CLI::App& app, Common& common, char** argv);

Command status_command(CLI::App& app, Common& common);
Command plan_command(CLI::App& app, Common& common);
Command diff_command(CLI::App& app, Common& common);
Command explain_command(CLI::App& app, Common& common);
Command doctor_command(CLI::App& app, Common& common);
Command drift_command(CLI::App& app, Common& common);
Command analyze_command(CLI::App& app, Common& common);
Command import_command(CLI::App& app, const Common& common);
Command lab_command(CLI::App& app, const Common& common, char** argv);
Command version_command(CLI::App& app, Common& common);
Command completion_command(CLI::App& app, const Common& common);

}  // namespace iprulectl
