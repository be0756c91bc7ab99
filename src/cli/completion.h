#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The command line as a value: what there is to complete.
struct Flag {
  std::string name;  // "--output", "-o"
  std::string description;
  bool takes_value = false;
  std::vector<std::string> values{};  // Where only some are possible.
};

struct CommandTree {
  std::string name;
  std::string description;
  std::vector<Flag> flags{};
  std::vector<std::string> words{};  // What may stand alone: shells, codes.
  std::vector<CommandTree> commands{};
};

struct Candidate {
  std::string word;
  std::string description;
};

// What may stand in the place of the last of `words`, which is as far as it has been typed. Nothing where a file or
// free text is expected: shells complete files by themselves.
std::vector<Candidate> complete(const CommandTree& tree, std::span<const std::string> words);

enum class Shell { bash, zsh, fish };

// It asks the program itself (`__complete`), so it never grows old.
std::string_view completion_script(Shell shell);

}  // namespace cli
