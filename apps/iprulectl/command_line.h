#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/completion.h"
#include "cli/listing.h"

// What the commands of iprulectl share: flags, how an answer is printed, how a mistake is told.
namespace iprulectl {

struct Common {
  cli::Output output = cli::Output::text;
  cli::ColourChoice colour = cli::ColourChoice::automatic;
  bool quiet = false;  // Only the exit code answers.
  bool no_headers = false;
  std::string sort_by;

  // How a command that lists is to show its rows.
  cli::ListStyle list_style() const {
    return {.wide = output == cli::Output::wide, .headers = !no_headers, .sort_by = sort_by};
  }
  // What only a list has was asked for: -o wide, -o name, --no-headers, --sort-by.
  bool wants_list() const {
    return output == cli::Output::wide || output == cli::Output::name || no_headers || !sort_by.empty();
  }
};

// A flag that takes one of a few words; the n-th stands for the n-th enumerator.
template <typename Enum>
CLI::Option* add_choice(CLI::App& command, const std::string& flag, Enum& value, std::vector<std::string> words,
                        const std::string& description) {
  const std::string shown = CLI::detail::join(words, "|");
  const auto choose = [&value, words = std::move(words)](const std::string& word) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) {
      throw CLI::ValidationError(fmt::format("\"{}\" is none of {}", word, fmt::join(words, ", ")));
    }
    value = static_cast<Enum>(found - words.begin());
  };
  return command.add_option_function<std::string>(flag, choose, description)->type_name(shown);
}

// A flag that takes some of a few words, separated by commas.
CLI::Option* add_choices(CLI::App& command, const std::string& flag, std::vector<std::string>& chosen,
                         std::span<const std::string_view> words, const std::string& description);

void add_common_flags(CLI::App& app, Common& common);
void add_output_flag(CLI::App& command, Common& common);
void add_list_flags(CLI::App& command, Common& common);  // The same for a list: -o wide and name, and how rows come.

// "iprulectl", or "kubectl iprule" when it was started as kubectl's plugin: what a person has to type.
std::string program_name(const std::filesystem::path& started_as);

std::string host_name();  // Of this machine; empty where it has none.

// Prints, and says how to exit.
int print(const cli::Answer& answer, const Common& common);
int print(const base::Result<cli::Answer>& answer, const Common& common);
int print_to_stderr(const cli::Answer& answer, const Common& common);  // The text, beside an answer that is data.
int complain(const base::Error& error);
int could_not_ask(const base::Error& error);  // The same where the fault is with whom we asked, whatever it is.

// Reads the command line; an exit code where that is the end of it: help, version, or a mistake, told with the nearest
// word that would be right.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// The command line as a value, for completion.
cli::CommandTree tree_of(const CLI::App& app);

}  // namespace iprulectl
