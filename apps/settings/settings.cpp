#include "settings.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_string.h"
#include "base/nearest_word.h"
#include "json/reader.h"
#include "json/yaml.h"

namespace {

constexpr std::string_view kConfig = "--config";

// "metrics-bind-address" -> "metricsBindAddress"
std::string key_of(std::string_view name) {
  std::string out;
  bool is_start = false;
  for (const char c : name) {
    if (c == '-') {
      is_start = true;
      continue;
    }
    out += is_start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_start = false;
  }
  return out;
}

// "metrics-bind-address" -> "IPRULE_METRICS_BIND_ADDRESS"
std::string variable_of(std::string_view name) {
  std::string out = "IPRULE_";
  for (const char c : name) out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

bool is_switch(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

// A plain scalar where that is what a reader of YAML takes it for.
std::string scalar(const std::string& text) {
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/'; };
  const auto is_inside = [&](char c) { return is_plain(c) || c == '.' || c == '-' || c == '_'; };
  if (!text.empty() && is_plain(text.front()) && std::ranges::all_of(text, is_inside)) return text;
  std::string out;
  base::append_json_string(out, text);
  return out;
}

// The file that the command line names, by the last --config on it.
std::string named_file(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kConfig && i + 1 < words.size()) out = words[i + 1];
    if (words[i].starts_with(fmt::format("{}=", kConfig))) out = words[i].substr(kConfig.size() + 1);
  }
  return out;
}

base::Result<std::string> text_of(const json::Value& value) {
  if (const auto text = value.string()) return std::string(*text);
  if (const auto flag = value.boolean()) return std::string(*flag ? "true" : "false");
  if (const auto number = value.integer<std::int64_t>()) return std::to_string(*number);
  return base::fail(base::Fault::invalid, fmt::format("{}: is not a text, a number, true or false", value.path()));
}

}  // namespace

Settings::Settings(CLI::App& app, Variables variables) : variables_(std::move(variables)) {
  for (const CLI::Option* option : std::as_const(app).get_options()) {
    const std::string name = name_of(*option);
    if (!name.empty() && name != "help" && name != "version") options_.push_back(option);
  }
  std::ranges::sort(options_, {}, [](const CLI::Option* option) { return name_of(*option); });
  app.add_option("--config", file_, "YAML file with these settings: someFlag: value for --some-flag value");
  app.add_flag("--print-config", prints_, "Print what is in force and where each value comes from, and exit");
}

Settings::Variables Settings::of_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): at start, nobody sets any.
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

base::Result<std::vector<std::string>> Settings::complete(std::vector<std::string> words) {
  std::string file = named_file(words);
  if (file.empty()) file = variables_(variable_of("config")).value_or("");
  if (!file.empty()) TRY(read_file(file));
  read_environment();
  std::vector<std::string> out;
  for (const CLI::Option* option : options_) {
    const auto given = given_.find(name_of(*option));
    if (given == given_.end()) continue;
    if (is_switch(*option)) {
      out.push_back(fmt::format("--{}={}", given->first, given->second.text));
    } else {  // The parser takes "--name=" with nothing behind it for a flag without a value.
      out.insert(out.end(), {"--" + given->first, given->second.text});
    }
  }
  std::ranges::move(words, std::back_inserter(out));
  return out;
}

base::Status Settings::read_file(const std::string& path) {
  const std::string text = TRY(base::read_file(path));
  const auto documents = json::from_yaml(text);
  if (!documents) return base::fail(base::Fault::invalid, fmt::format("{}:{}", path, documents.error().message()));
  if (documents->empty()) return {};
  json::Reader reader;
  const auto document = TRY(reader.parse(documents->front()));
  for (const auto& [key, value] : TRY(document.members())) {
    const auto is_it = [&](const CLI::Option* option) { return key_of(name_of(*option)) == key; };
    const auto option = std::ranges::find_if(options_, is_it);
    if (option == options_.end()) {
      std::vector<std::string> known;
      for (const CLI::Option* one : options_) known.push_back(key_of(name_of(*one)));
      const std::string nearest = base::nearest_word(key, known);
      return base::fail(base::Fault::invalid,
                        fmt::format("{}: unknown key \"{}\"{}", path, key,
                                    nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest)));
    }
    const auto given = text_of(value);
    if (!given) return base::fail(base::Fault::invalid, fmt::format("{}: {}", path, given.error().message()));
    given_.insert_or_assign(name_of(**option), Given{*given, "file " + path});
  }
  return {};
}

void Settings::read_environment() {
  const auto read = [&](const std::string& flag, const std::string& variable) {
    if (auto text = variables_(variable)) given_.insert_or_assign(flag, Given{*std::move(text), "env " + variable});
  };
  for (const auto& [flag, variable] : older_) read(flag, variable);
  for (const CLI::Option* option : options_) read(name_of(*option), variable_of(name_of(*option)));
}

std::string Settings::page() const {
  std::string out;
  for (const CLI::Option* option : options_) out += line_of(*option);
  return out;
}

std::string Settings::line_of(const CLI::Option& option) const {
  constexpr int kColumn = 40;
  const std::string name = name_of(option);
  const auto given = given_.find(name);
  const std::size_t before = given != given_.end() ? 1 : 0;
  const auto line = [&](std::string_view value, std::string_view from) {
    return fmt::format("{:<{}} # {}\n", fmt::format("{}: {}", key_of(name), value), kColumn, from);
  };
  if (option.count() > before) return line(scalar(option.results().back()), "flag --" + name);
  if (given != given_.end()) return line(scalar(given->second.text), given->second.from);
  const std::string fallback = is_switch(option) ? "false" : "";
  const std::string value = option.get_default_str().empty() ? fallback : option.get_default_str();
  return value.empty() ? line("", "not set") : line(scalar(value), "default");
}
