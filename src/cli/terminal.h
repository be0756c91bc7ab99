#pragma once

#include <string>

namespace cli {

// Of the environment; empty where it is not set.
std::string variable(const char* name);

enum class ColourChoice { automatic, always, never };

// What the environment says about the terminal; taken as a value so that a test can make one up.
struct TerminalEnvironment {
  bool no_colour = false;  // NO_COLOR is set and not empty.
  std::string term;        // TERM

  static TerminalEnvironment of_process();
};

// What the place can show that our answer goes to. A pipe shows no colour.
struct Terminal {
  bool colour = false;

  static Terminal of(int descriptor, ColourChoice choice, const TerminalEnvironment& environment);
};

}  // namespace cli
