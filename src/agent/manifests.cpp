#include "agent/manifests.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/unknown_fields.h"
#include "base/file.h"
#include "json/reader.h"
#include "json/yaml.h"
#include "meta/meta.h"
#include "net/prefix.h"

namespace agent {
namespace {

template <typename Kind>
base::Status add(std::vector<Kind>& all, Kind object, std::string_view kind) {
  const std::string name = meta::full_name(object.meta);
  const auto same = [&](const Kind& other) {
    return other.meta.name == object.meta.name && other.meta.ns == object.meta.ns;
  };
  if (std::ranges::any_of(all, same)) {
    return base::fail(base::Fault::invalid, fmt::format("{} {} is there twice", kind, name));
  }
  all.push_back(std::move(object));
  return {};
}

// What the schema of the kind refuses in a cluster: here nobody else does, and rules of others are at stake.
base::Status check_foreign_rules(const json::Value& place, const api::Agent::ForeignRules& said) {
  for (const json::Value& item : TRY(place["sources"].items_or_none())) {
    const auto text = TRY(item.string());
    TRY(base::within(item.path(), net::Prefix::parse(text)));
  }
  if (said.policy == api::ForeignPolicy::prune && (said.sources.empty() || said.tables.empty())) {
    return place.fail("policy Prune needs sources and tables: only what is named is removed");
  }
  return {};
}

// The kinds that say something to us, each with its group: others have a Service or an Agent, too.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKinds = {{{"IPRule", api::kGroup},
                                                                                  {"Agent", api::kGroup},
                                                                                  {"Service", ""},
                                                                                  {"EndpointSlice", "discovery.k8s.io"},
                                                                                  {"Node", ""}}};

std::string_view group_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

base::Status add_known(Manifests& manifests, const json::Value& object, std::string_view kind) {
  if (kind == "IPRule") {
    TRY(api::refuse_unknown<api::IPRule::Spec>(object["spec"]));
    return add(manifests.rules, TRY(api::decode_iprule(object)), kind);
  }
  if (kind == "Agent") {
    TRY(api::refuse_unknown<api::Agent::Spec>(object["spec"]));
    auto agent = TRY(api::decode_agent(object));
    TRY(check_foreign_rules(object["spec"]["foreignRules"], agent.spec.foreign_rules));
    return add(manifests.agents, std::move(agent), kind);
  }
  if (kind == "Service") return add(manifests.services, TRY(api::decode_service(object)), kind);
  if (kind == "EndpointSlice") return add(manifests.slices, TRY(api::decode_endpoint_slice(object)), kind);
  return add(manifests.nodes, TRY(api::decode_node(object)), kind);
}

base::Status add_object(Manifests& manifests, const json::Value& object, OtherKinds others) {
  const bool passes = others == OtherKinds::pass_over;
  if (passes && !object["kind"].exists() && !object["apiVersion"].exists()) {  // The values of a chart, say.
    ++manifests.passed_over;
    return {};
  }
  const auto kind = TRY(object["kind"].string());
  if (kind.ends_with("List")) {
    for (const json::Value& item : TRY(object["items"].items())) TRY(add_object(manifests, item, others));
    return {};
  }
  const auto known = std::ranges::find(kKinds, kind, &std::pair<std::string_view, std::string_view>::first);
  const auto version = TRY(object["apiVersion"].string_or(""));
  const bool is_others = known != kKinds.end() && !version.empty() && group_of(version) != known->second;
  if (known != kKinds.end() && !is_others) return add_known(manifests, object, kind);
  if (passes) {
    ++manifests.passed_over;
    return {};
  }
  if (is_others) return object["apiVersion"].fail(fmt::format("the {} of \"{}\" is not read here", kind, version));
  return object["kind"].fail(
      fmt::format("\"{}\" is not read here; use IPRule, Agent, Service, EndpointSlice or Node", kind));
}

// "x.yaml:7:10: spec.table: expected a number": messages of decoders begin with the field.
base::Error at_place(std::string_view name, std::string_view text, std::size_t document, const base::Error& error) {
  const std::string_view message = error.message();
  const auto place = json::locate(text, document, message.substr(0, message.find(": ")));
  return {error.fault(), place ? fmt::format("{}:{}:{}: {}", name, place->line, place->column, message)
                               : fmt::format("{}: {}", name, message)};
}

bool is_manifest(const std::filesystem::directory_entry& entry) {
  constexpr std::array<std::string_view, 3> kEndings = {".yaml", ".yml", ".json"};
  const auto name = entry.path().filename().native();
  return !name.starts_with('.') && entry.is_regular_file() &&
         std::ranges::find(kEndings, entry.path().extension().native()) != kEndings.end();
}

// A file that cannot be read is wrong input, whatever keeps us from it.
base::Result<std::string> read_input(const std::filesystem::path& file) {
  auto text = base::read_file(file);
  if (!text) return base::fail(base::Fault::invalid, text.error().message());
  return text;
}

}  // namespace

base::Status add_manifests(Manifests& manifests, std::string_view name, std::string_view text, OtherKinds others) {
  const auto documents = json::from_yaml(text);
  if (!documents) {
    return base::fail(documents.error().fault(), fmt::format("{}:{}", name, documents.error().message()));
  }
  json::Reader reader;
  for (std::size_t i = 0; i < documents->size(); ++i) {
    const auto object = reader.parse((*documents)[i]);
    const base::Status added = object ? add_object(manifests, *object, others) : std::unexpected(object.error());
    if (!added) return std::unexpected(at_place(name, text, i, added.error()));
  }
  return {};
}

namespace {

base::Status add_path(Manifests& manifests, const std::filesystem::path& path, OtherKinds others) {
  std::error_code error;
  if (path == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return add_manifests(manifests, "standard input", text, others);
  }
  std::vector<std::filesystem::path> files;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind != std::filesystem::file_type::directory && kind != std::filesystem::file_type::not_found) {
    files.push_back(path);  // Also a pipe, as of `-f <(...)`.
  } else {
    for (auto entry = std::filesystem::directory_iterator(path, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (is_manifest(*entry)) files.push_back(entry->path());
    }
    if (error) return base::fail(base::Fault::invalid, fmt::format("{}: {}", path.native(), error.message()));
    std::ranges::sort(files);
  }
  for (const auto& file : files) {
    const std::string text = TRY(read_input(file));
    TRY(add_manifests(manifests, file.native(), text, others));
  }
  return {};
}

}  // namespace

base::Result<Manifests> read_manifests(const std::filesystem::path& path) {
  return read_manifests(std::span(&path, 1), OtherKinds::refuse);
}

base::Result<Manifests> read_manifests(std::span<const std::filesystem::path> paths, OtherKinds others) {
  Manifests manifests;
  for (const auto& path : paths) TRY(add_path(manifests, path, others));
  return manifests;
}

}  // namespace agent
