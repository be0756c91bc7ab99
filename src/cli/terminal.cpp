#include "cli/terminal.h"

#include <cstdlib>
#include <unistd.h>

namespace cli {
std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it.
  return value != nullptr ? value : "";
}

TerminalEnvironment TerminalEnvironment::of_process() {
  return {.no_colour = !variable("NO_COLOR").empty(), .term = variable("TERM")};
}

Terminal Terminal::of(int descriptor, ColourChoice choice, const TerminalEnvironment& environment) {
  if (choice == ColourChoice::always) return {.colour = true};
  if (choice == ColourChoice::never) return {.colour = false};
  const bool able = !environment.no_colour && environment.term != "dumb" && !environment.term.empty();
  return {.colour = able && ::isatty(descriptor) == 1};
}

}  // namespace cli
