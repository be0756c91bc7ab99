#include "reference.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "json/reader.h"
#include "json/yaml.h"
#include "state/known_numbers.h"
#include "testbed/process.h"

namespace reference {
namespace {

using json::Value;

constexpr std::string_view kMade = "<!-- Made by programs_test from what it describes; do not edit. -->\n";

std::string text_of(const Value& value) {
  const auto text = value.string_or("");
  return std::string(text.value_or(""));
}

// In one line of a table.
std::string cell(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::regex_replace(text, std::regex(R"(\|)"), "\\|");
}

std::string type_of(const Value& schema) {
  const std::string type = text_of(schema["type"]);
  if (type == "array") return fmt::format("list of {}", type_of(schema["items"]));
  if (schema["x-kubernetes-int-or-string"].exists()) return "integer or string";
  if (type == "object" && schema["additionalProperties"].exists()) {
    return fmt::format("map to {}", type_of(schema["additionalProperties"]));
  }
  return type.empty() ? "any" : type;
}

std::string allowed(const Value& schema) {
  std::string out;
  if (schema["default"].exists()) out += fmt::format("default {}; ", schema["default"].text());
  if (schema["enum"].exists()) out += fmt::format("one of {}; ", schema["enum"].text());
  if (schema["minimum"].exists()) out += fmt::format("from {}; ", schema["minimum"].text());
  if (schema["maximum"].exists()) out += fmt::format("to {}; ", schema["maximum"].text());
  return out.empty() ? "" : out.substr(0, out.size() - 2);
}

base::Status add_fields(std::string& out, const std::string& path, const Value& schema) {
  const auto members = TRY(schema["properties"].members_or_none());
  for (const json::Member& member : members) {
    const std::string name = path.empty() ? std::string(member.key) : fmt::format("{}.{}", path, member.key);
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, type_of(member.value), cell(allowed(member.value)),
                       cell(text_of(member.value["description"])));
    TRY(add_fields(out, name, member.value));
    TRY(add_fields(out, name + "[]", member.value["items"]));
  }
  return {};
}

base::Result<std::string> kind_section(const std::filesystem::path& file) {
  const std::string yaml = TRY(base::read_file(file));
  const auto documents = TRY(json::from_yaml(yaml));
  json::Reader reader;
  const Value crd = TRY(reader.parse(documents.front()));
  const auto versions = TRY(crd["spec"]["versions"].items());
  const Value schema = versions.front()["schema"]["openAPIV3Schema"];
  std::string out =
      fmt::format("\n## {}\n\n{}\n\n`{}/{}`, {}, short name `{}`.\n\n", text_of(crd["spec"]["names"]["kind"]),
                  text_of(schema["description"]), text_of(crd["spec"]["group"]), text_of(versions.front()["name"]),
                  text_of(crd["spec"]["scope"]) == "Cluster" ? "of the cluster" : "in a name space",
                  text_of(TRY(crd["spec"]["names"]["shortNames"].items()).front()));
  out += "| field | type | allowed | meaning |\n|---|---|---|---|\n";
  TRY(add_fields(out, "spec", schema["properties"]["spec"]));
  TRY(add_fields(out, "status", schema["properties"]["status"]));
  return out;
}

base::Result<std::string> output_of(const std::vector<std::string>& command) {
  const auto done = TRY(testbed::run({.arguments = command}, std::chrono::seconds(30)));
  // Which machine it was built on says nothing to a reader.
  return std::regex_replace(done.output, std::regex(R"( +\n)"), "\n");
}

// The words below a program: what its help lists under "Subcommands:".
std::vector<std::string> words_in(const std::string& help) {
  std::vector<std::string> out;
  const auto begin = help.find("Subcommands:\n");
  if (begin == std::string::npos) return out;
  const std::string list = help.substr(begin);
  static const std::regex kWord(R"(\n  ([a-z]+) )");
  for (std::sregex_iterator at(list.begin(), list.end(), kWord); at != std::sregex_iterator(); ++at) {
    out.push_back((*at)[1]);
  }
  return out;
}

struct Metric {
  std::string type;
  std::string help;
};

// registry.counter("name", "help"...) or with a constant of the same file for the help.
void add_metrics(const std::string& source, std::map<std::string, Metric>& into) {
  static const std::regex kRegistration(
      R"re((counter|gauge|histogram)\(\s*"([a-z_]+)",\s*((?:"[^"]*"\s*)+|k[A-Za-z]+))re");
  for (std::sregex_iterator at(source.begin(), source.end(), kRegistration); at != std::sregex_iterator(); ++at) {
    std::string help = (*at)[3];
    if (help.starts_with('k')) {
      std::smatch constant;
      const std::regex value(help + R"re((?:\[\])?\s*=\s*((?:"[^"]*"\s*)+))re");
      if (std::regex_search(source, constant, value)) help = constant[1];
    }
    help = std::regex_replace(help, std::regex(R"("\s*"|"|\s+$)"), "");
    into[(*at)[2]] = {.type = (*at)[1], .help = help};
  }
}

using state::KnownNumber;

std::string_view kind_text(KnownNumber::Kind kind) {
  switch (kind) {
    case KnownNumber::Kind::priority:
      return "priority";
    case KnownNumber::Kind::table:
      return "table";
    case KnownNumber::Kind::mark:
      return "mark";
  }
  return "";
}

std::string number_text(const KnownNumber& known) {
  if (known.kind == KnownNumber::Kind::mark) return fmt::format("{:#x}", known.first);
  return known.first == known.last ? fmt::format("{}", known.first) : fmt::format("{} to {}", known.first, known.last);
}

}  // namespace

base::Result<std::string> numbers_page(const std::filesystem::path& page) {
  const std::string shown = TRY(base::read_file(page));
  const auto written = shown.find(kMade);
  if (written == std::string::npos) return base::fail(base::Fault::invalid, "no line says where the list begins");
  std::string out = shown.substr(0, written) + std::string(kMade) + "\n| | number | who | what |\n|---|---|---|---|\n";
  for (const KnownNumber& known : state::known_numbers()) {
    out += fmt::format("| {} | {} | {} | {} |\n", kind_text(known.kind), number_text(known), known.who, known.what);
  }
  return out;
}

base::Result<std::string> kinds_page(const std::filesystem::path& crds) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(crds)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::string out = fmt::format("{}# The kinds, field by field\n", kMade);
  for (const auto& file : files) out += TRY(base::within(file.native(), kind_section(file)));
  return out;
}

base::Result<std::string> flags_page(const std::vector<std::filesystem::path>& programs) {
  std::string out = fmt::format("{}# The programs' own help\n", kMade);
  for (const auto& program : programs) {
    const std::string help = TRY(output_of({program.native(), "--help"}));
    out += fmt::format("\n## {}\n\n```text\n{}```\n", program.filename().native(), help);
    for (const std::string& word : words_in(help)) {
      const std::string own = TRY(output_of({program.native(), word, "--help"}));
      out += fmt::format("\n### {} {}\n\n```text\n{}```\n", program.filename().native(), word, own);
    }
  }
  return out;
}

base::Result<std::string> metrics_page(const std::filesystem::path& sources) {
  std::map<std::string, Metric> metrics;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sources)) {
    const std::string name = entry.path().filename().native();
    if (!name.ends_with(".cpp") || name.ends_with("_test.cpp")) continue;
    const std::string source = TRY(base::read_file(entry.path()));
    add_metrics(source, metrics);
  }
  std::string out = fmt::format("{}# Metrics\n\n| name | type | says |\n|---|---|---|\n", kMade);
  for (const auto& [name, metric] : metrics) {
    out += fmt::format("| `{}` | {} | {} |\n", name, metric.type, cell(metric.help));
  }
  return out;
}

}  // namespace reference
