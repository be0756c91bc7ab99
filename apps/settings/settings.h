#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

// The values of a service, each in three spellings: the flag --metrics-bind-address, IPRULE_METRICS_BIND_ADDRESS in the
// environment, metricsBindAddress in the file of --config. The flag beats the environment, that beats the file, and
// that the default. Variables that are older than this keep their names (`older`).
class Settings {
 public:
  using Variables = std::function<std::optional<std::string>(const std::string& name)>;  // Nothing: not set.

  // Adds --config and --print-config. All other options of `app` must be there already.
  explicit Settings(CLI::App& app, Variables variables = of_process());
  static Variables of_process();

  // Another name for the environment variable of a flag; it counts after the one above.
  void older(const std::string& flag, std::string variable) { older_.insert_or_assign(flag, std::move(variable)); }

  // What the parser shall read: `words` with what environment and file say before them. An error names the file, the
  // key and the nearest one that there is.
  base::Result<std::vector<std::string>> complete(std::vector<std::string> words);

  bool is_page_wanted() const { return prints_; }
  // What is in force after parsing and where it comes from, a line each; a file for --config.
  std::string page() const;

 private:
  struct Given {
    std::string text;
    std::string from;  // "env NODE_NAME", "file /etc/iprule.yaml"
  };

  base::Status read_file(const std::string& path);
  void read_environment();
  std::string line_of(const CLI::Option& option) const;

  Variables variables_;
  std::vector<const CLI::Option*> options_;
  std::map<std::string, std::string> older_;
  std::map<std::string, Given> given_;  // By flag: what counts where the command line says nothing.
  std::string file_;
  bool prints_ = false;
};
