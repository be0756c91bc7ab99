#include "agent/manifests.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "json/reader.h"
#include "json/yaml.h"
#include "meta/meta.h"

namespace agent {
namespace {

template <typename Kind>
base::Status add(std::vector<Kind>& all, Kind object, std::string_view kind) {
  const std::string name = meta::full_name(object.meta);
  const auto same = [&](const Kind& other) { return meta::full_name(other.meta) == name; };
  if (std::ranges::any_of(all, same)) {
    return base::fail(base::Fault::invalid, fmt::format("{} {} is there twice", kind, name));
  }
  all.push_back(std::move(object));
  return {};
}

base::Status add_object(Manifests& manifests, const json::Value& object) {
  const auto kind = TRY(object["kind"].string());
  if (kind.ends_with("List")) {
    for (const json::Value& item : TRY(object["items"].items())) TRY(add_object(manifests, item));
    return {};
  }
  if (kind == "IPRule") return add(manifests.rules, TRY(api::decode_iprule(object)), kind);
  if (kind == "Service") return add(manifests.services, TRY(api::decode_service(object)), kind);
  return object["kind"].fail(fmt::format("\"{}\" is not read here; use IPRule or Service", kind));
}

bool is_manifest(const std::filesystem::directory_entry& entry) {
  constexpr std::array<std::string_view, 3> kEndings = {".yaml", ".yml", ".json"};
  const auto name = entry.path().filename().native();
  return !name.starts_with('.') && entry.is_regular_file() &&
         std::ranges::find(kEndings, entry.path().extension().native()) != kEndings.end();
}

}  // namespace

base::Status add_manifests(Manifests& manifests, std::string_view name, std::string_view text) {
  const auto documents = TRY(base::within(name, json::from_yaml(text)));
  json::Reader reader;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string where = fmt::format("{}: document {}", name, i + 1);
    const auto object = TRY(base::within(where, reader.parse(documents[i])));
    TRY(base::within(where, add_object(manifests, object)));
  }
  return {};
}

base::Result<Manifests> read_manifests(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (is_manifest(*entry)) files.push_back(entry->path());
  }
  if (error) return base::fail_errno(fmt::format("read folder {}", folder.native()), error.value());

  std::ranges::sort(files);
  Manifests manifests;
  for (const auto& file : files) {
    const std::string text = TRY(base::read_file(file));
    TRY(add_manifests(manifests, file.filename().native(), text));
  }
  return manifests;
}

}  // namespace agent
