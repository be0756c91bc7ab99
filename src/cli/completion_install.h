#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/answer.h"

namespace cli {

// What decides where a shell looks; taken as a value so that a test can make one up.
struct ShellPlace {
  std::string shell;              // SHELL: the person's.
  std::filesystem::path home;     // HOME
  std::filesystem::path data;     // XDG_DATA_HOME; empty: ~/.local/share.
  std::filesystem::path config;   // XDG_CONFIG_HOME; empty: ~/.config.
  std::filesystem::path zdotdir;  // ZDOTDIR; empty: ~.
  std::filesystem::path program;  // This one.

  static base::Result<ShellPlace> of_process();
};

// Writes the completion where the person's shell finds it, and lets kubectl find ours beside the program, under the
// name that it asks a plugin's completion by. What is left to the person, as zsh wants it, is said and worth attention.
base::Result<Answer> install_completion(const ShellPlace& place);

}  // namespace cli
