#include "cli/object_changes.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "json/reader.h"

namespace cli {
namespace {

using Fields = std::map<std::string, std::string>;  // By path.

// Objects are taken apart, lists are one value.
void flatten(const json::Value& value, const std::string& path, Fields& out) {
  const auto members = value.members();
  if (!members || members->empty()) {
    if (value.exists() && value.text() != "{}") out[path] = value.text();
    return;
  }
  for (const json::Member& member : *members) flatten(member.value, fmt::format("{}.{}", path, member.key), out);
}

Fields spec_fields(const std::string& object) {
  Fields out;
  json::Reader reader;
  if (const auto root = reader.parse(object)) flatten((*root)["spec"], "spec", out);
  return out;
}

std::vector<FieldChange> differences(const Fields& before, const Fields& after) {
  std::vector<FieldChange> out;
  const auto value_in = [](const Fields& fields, const std::string& path) -> std::string {
    const auto found = fields.find(path);
    return found != fields.end() ? found->second : "null";
  };
  Fields paths = before;
  paths.insert(after.begin(), after.end());
  for (const auto& [path, value] : paths) {
    FieldChange change{.path = path, .from = value_in(before, path), .to = value_in(after, path)};
    if (change.from != change.to) out.push_back(std::move(change));
  }
  return out;
}

template <typename Kind>
void add_changes(const std::vector<Kind>& there, const std::vector<Kind>& changes, std::vector<ObjectChange>& out) {
  for (const Kind& change : changes) {
    const auto same = std::ranges::find_if(there, [&](const Kind& object) {
      return object.meta.name == change.meta.name && object.meta.ns == change.meta.ns;
    });
    ObjectChange one{.object = fmt::format("{}/{}", Kind::kKind, change.meta.name), .is_new = same == there.end()};
    if (!one.is_new) {
      one.generation = same->meta.generation;
      one.fields = differences(spec_fields(api::encode(*same)), spec_fields(api::encode(change)));
    }
    out.push_back(std::move(one));
  }
}

// As people write it: without the marks of JSON.
std::string bare(std::string_view json) {
  if (json == "null") return "none";
  std::string out;
  for (const char c : json) {
    if (c == ',') {
      out += ", ";
    } else if (c != '"') {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<ObjectChange> object_changes(const agent::Manifests& there, const agent::Manifests& changes) {
  std::vector<ObjectChange> out;
  add_changes(there.agents, changes.agents, out);
  add_changes(there.rules, changes.rules, out);
  return out;
}

std::string text(const ObjectChange& change) {
  if (change.is_new) return change.object + "  new";
  if (change.fields.empty()) return change.object + "  unchanged";
  std::string out = fmt::format("{}  generation {} -> {}", change.object, change.generation, change.generation + 1);
  for (const FieldChange& field : change.fields) {
    out += fmt::format("  {} {} -> {}", field.path, bare(field.from), bare(field.to));
  }
  return out;
}

}  // namespace cli
