#include "commands.h"

namespace iprulectl {

std::vector<Command> add_commands(CLI::App& app, Common& common, char** argv) {
  return {
      status_command(app, common),  plan_command(app, common),       diff_command(app, common),
      explain_command(app, common), doctor_command(app, common),     drift_command(app, common),
      analyze_command(app, common), import_command(app, common),     lab_command(app, common, argv),
      version_command(app, common), completion_command(app, common),
  };
}

}  // namespace iprulectl
