#include "command_line.h"

#include <cstdio>
#include <unistd.h>
#include <vector>

#include <climits>
#include <fmt/format.h>

#include "base/nearest_word.h"

namespace iprulectl {
namespace {

int number(cli::ExitCode code) {
  return static_cast<int>(code);
}

const CLI::App* active(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? &app : active(*chosen.front());
}

// Its own, and those that may stand behind any command.
std::vector<std::string> flag_names(const CLI::App* app) {
  std::vector<std::string> out;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const auto& name : option->get_lnames()) out.push_back("--" + name);
      for (const auto& name : option->get_snames()) out.push_back("-" + name);
    }
  }
  return out;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) out.push_back(command->get_name());  // Those without a group are hidden.
  }
  return out;
}

// "iprulectl: unknown command "statsu"; did you mean "status"?"
void tell_unknown(const CLI::App& app, std::string word) {
  const CLI::App* command = active(app);
  const bool is_flag = word.starts_with('-');
  if (is_flag) word = word.substr(0, word.find('='));
  const auto known = is_flag ? flag_names(command) : command_names(*command);
  const std::string nearest = base::nearest_word(word, known);
  const std::string_view what = is_flag ? "flag" : known.empty() ? "argument" : "command";
  fmt::print(stderr, "{}: unknown {} \"{}\"{}\n", app.get_name(), what, cli::printable(word),
             nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest));
}

}  // namespace

CLI::Option* add_choices(CLI::App& command, const std::string& flag, std::vector<std::string>& chosen,
                         std::span<const std::string_view> words, const std::string& description) {
  const auto check = [words](const std::string& word) {
    const bool is_known = std::ranges::find(words, word) != words.end();
    return is_known ? std::string() : fmt::format("\"{}\" is none of {}", word, fmt::join(words, ", "));
  };
  return command.add_option(flag, chosen, description)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(check)
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

void add_common_flags(CLI::App& app, Common& common) {
  app.fallthrough();  // They may stand behind the command, too.
  add_choice(app, "--color", common.colour, {"auto", "always", "never"}, "Colour: auto is on a terminal only");
  app.add_flag("-q,--quiet", common.quiet, "Say nothing but what went wrong: the exit code is the answer");
}

void add_output_flag(CLI::App& command, Common& common) {
  add_choice(command, "-o,--output", common.output, {"text", "json", "yaml"}, "For programs: json or yaml");
}

void add_list_flags(CLI::App& command, Common& common) {
  add_choice(command, "-o,--output", common.output, {"text", "json", "yaml", "wide", "name"},
             "For programs: json or yaml; of a list also wide, with more columns, or name");
  command.add_flag("--no-headers", common.no_headers, "Nothing but the rows of a list");
  command.add_option("--sort-by", common.sort_by, "A field of -o json's rows to sort a list by, for example {.name}")
      ->type_name("FIELD");
}

std::string program_name(const std::filesystem::path& started_as) {
  return started_as.filename() == "kubectl-iprule" ? "kubectl iprule" : "iprulectl";
}

std::string host_name() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "";
  return name.substr(0, name.find('\0'));
}

int print(const cli::Answer& answer, const Common& common) {
  if (common.quiet) return number(answer.code);
  const auto terminal = cli::Terminal::of(STDOUT_FILENO, common.colour, cli::TerminalEnvironment::of_process());
  fmt::print("{}", cli::render(answer, common.output, terminal));
  std::fflush(stdout);
  return number(answer.code);
}

int print(const base::Result<cli::Answer>& answer, const Common& common) {
  return answer ? print(*answer, common) : complain(answer.error());
}

int print_to_stderr(const cli::Answer& answer, const Common& common) {
  if (common.quiet) return number(answer.code);
  const auto terminal = cli::Terminal::of(STDERR_FILENO, common.colour, cli::TerminalEnvironment::of_process());
  fmt::print(stderr, "{}", answer.page.render(terminal));
  return number(answer.code);
}

int complain(const base::Error& error) {
  fmt::print(stderr, "iprulectl: {}\n", cli::printable(error.message()));
  return number(cli::exit_code_of(error));
}

int could_not_ask(const base::Error& error) {
  complain(error);
  return number(cli::ExitCode::could_not_ask);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // Help or version.
    // A flag that is missing is most likely the one that was mistyped.
    const auto rest = app.remaining(true);
    if (!rest.empty()) {
      tell_unknown(app, rest.front());
    } else {
      fmt::print(stderr, "{}: {}\n", app.get_name(), cli::printable(error.what()));
    }
  }
  fmt::print(stderr, "See {} --help\n", app.get_name());
  return number(cli::ExitCode::usage);
}

cli::CommandTree tree_of(const CLI::App& app) {
  cli::CommandTree tree{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    const auto values = CLI::detail::split(option->get_type_name(), '|');
    const auto add = [&](const std::string& name) {
      tree.flags.push_back({.name = name,
                            .description = option->get_description(),
                            .takes_value = option->get_items_expected_max() > 0,
                            .values = values.size() > 1 ? values : std::vector<std::string>()});
    };
    for (const auto& name : option->get_lnames()) add("--" + name);
    for (const auto& name : option->get_snames()) add("-" + name);
    if (option->get_positional() && values.size() > 1) tree.words = values;
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) tree.commands.push_back(tree_of(*command));
  }
  return tree;
}

}  // namespace iprulectl
