// What the program says of itself: version, completion.
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/completion_install.h"
#include "cli/version.h"
#include "cluster_flags.h"
#include "commands.h"

namespace iprulectl {

Command version_command(CLI::App& app, Common& common) {
  struct Options {
    ClusterFlags cluster;
    bool client = false;
  };
  const auto options = std::make_shared<Options>();
  auto* word = app.add_subcommand("version", "What this program is, what runs in the cluster, and whether they fit");
  word->add_flag("--client", options->client, "This program only");
  add_cluster_flags(*word, options->cluster);
  add_output_flag(*word, common);
  return {.word = word, .run = [options, &app, &common] {
            if (options->client) return print(cli::show_version(app.get_name(), std::nullopt), common);
            auto cluster = options->cluster.connect();
            if (cluster) return print(cli::show_version(app.get_name(), cluster->read_versions()), common);
            print(cli::show_version(app.get_name(), std::nullopt), common);
            return could_not_ask(cluster.error());
          }};
}

Command completion_command(CLI::App& app, const Common& common) {
  enum class Word { bash, zsh, fish, install };
  const auto chosen = std::make_shared<Word>();
  auto* word = app.add_subcommand("completion", "A script that makes a shell complete our words");
  add_choice(*word, "shell", *chosen, {"bash", "zsh", "fish", "install"},
             "bash, zsh or fish; install writes it for your shell and for kubectl")
      ->required();
  return {.word = word, .run = [chosen, &common] {
            if (*chosen != Word::install) {
              fmt::print("{}", cli::completion_script(static_cast<cli::Shell>(*chosen)));
              return 0;
            }
            const auto place = cli::ShellPlace::of_process();
            return place ? print(cli::install_completion(*place), common) : complain(place.error());
          }};
}

}  // namespace iprulectl
