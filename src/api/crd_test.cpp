// The CRDs people install and the types in this folder describe the same fields: same names, same types, same words of
// enums, same required ones. A field that only one side has would be dropped or refused without a word.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/agent.h"
#include "api/codec.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "base/file.h"
#include "json/yaml.h"

namespace api {
namespace {

using Fields = std::map<std::string, std::string>;  // Path -> type.

// Visits a type as the codec does and writes down what it sees.
class Describer {
 public:
  Describer(Fields& out, std::string path) : out_(out), path_(std::move(path)) {}

  template <typename T>
  void operator()(std::string_view key, const T& field) {
    add(fmt::format("{}.{}", path_, key), field, "");
  }
  template <typename T>
  void always(std::string_view key, const T& field) {
    (*this)(key, field);
  }
  template <typename T>
  void required(std::string_view key, const T& field) {
    add(fmt::format("{}.{}", path_, key), field, " required");
  }
  template <typename T>
  void operator()(std::string_view key, Fitting<T> field) {
    (*this)(key, field.number);
  }
  template <typename T>
  void required(std::string_view key, Fitting<T> field) {
    required(key, field.number);
  }

 private:
  template <typename T>
  void add(const std::string& path, const T&, std::string_view mark) {
    if constexpr (std::same_as<T, std::string>) {
      out_[path] = fmt::format("string{}", mark);
    } else if constexpr (std::same_as<T, bool>) {
      out_[path] = fmt::format("boolean{}", mark);
    } else if constexpr (std::same_as<T, std::uint32_t>) {
      out_[path] = fmt::format("uint32{}", mark);
    } else if constexpr (std::integral<T>) {
      out_[path] = fmt::format("int{}{}", sizeof(T) * 8, mark);
    } else if constexpr (std::same_as<T, meta::Time>) {
      out_[path] = fmt::format("time{}", mark);
    } else if constexpr (std::same_as<T, meta::Labels>) {
      out_[path] = fmt::format("map of strings{}", mark);
    } else if constexpr (std::same_as<T, Quantities>) {
      out_[path] = fmt::format("map of amounts{}", mark);
    } else if constexpr (std::same_as<T, meta::Condition>) {
      out_[path] = fmt::format("object{}", mark);
    } else if constexpr (Named<T>) {
      out_[path] = fmt::format("one of{}{}", words(names(T())), mark);
    } else if constexpr (Described<T>) {
      out_[path] = fmt::format("object{}", mark);
      T value;
      Describer inner(out_, path);
      T::fields(value, inner);
    } else {
      nested(path, T(), mark);
    }
  }
  template <typename T>
  void nested(const std::string& path, const std::optional<T>&, std::string_view mark) {
    add(path, T(), mark);
  }
  template <typename T>
  void nested(const std::string& path, const std::vector<T>&, std::string_view mark) {
    out_[path] = fmt::format("list{}", mark);
    add(path + "[]", T(), "");
  }
  static std::string words(const auto& names) {
    std::string out;
    for (const std::string_view name : names) {
      if (!name.empty()) out += fmt::format(" {}", name);  // "" stands for "not said" and is never written.
    }
    return out;
  }

  Fields& out_;
  std::string path_;
};

template <typename Kind>
Fields fields_of() {
  Fields out;
  typename Kind::Spec spec;
  typename Kind::Status status;
  Describer describe(out, "");
  if constexpr (Kind::kSpecRequired) {
    describe.required("spec", spec);
  } else {
    describe("spec", spec);
  }
  describe("status", status);
  // A list of conditions is the same everywhere and described in `meta`.
  return out;
}

std::string type_of(const json::Value& schema) {
  if (schema["enum"].exists()) {
    std::string out = "one of";
    for (const auto items = *schema["enum"].items(); const auto& word : items)
      out += fmt::format(" {}", *word.string());
    return out;
  }
  const std::string_view type = *schema["type"].string_or("");
  const std::string_view format = *schema["format"].string_or("");
  if (type == "array") return "list";
  if (type == "string") return format == "date-time" ? "time" : "string";
  if (type == "integer") {
    const bool is_bounded = schema["maximum"].exists() && *schema["minimum"].integer_or(std::int64_t{-1}) >= 0;
    return is_bounded && *schema["maximum"].integer<std::int64_t>() == 4294967295 ? "uint32" : std::string(format);
  }
  if (type == "object" && schema["additionalProperties"].exists()) {
    return schema["additionalProperties"]["type"].exists() ? "map of strings" : "map of amounts";
  }
  return std::string(type);
}

// Walks the schema; every field must also tell people what it is.
void walk(const json::Value& schema, const std::string& path, bool is_required, Fields& out) {
  if (!path.empty()) {
    out[path] = type_of(schema) + (is_required ? " required" : "");
    if (!path.ends_with("[]")) {
      EXPECT_TRUE(schema["description"].exists()) << path << " has no description";
    }
  }
  if (path.ends_with(".conditions[]")) return;
  if (schema["items"].exists()) walk(schema["items"], path + "[]", false, out);
  const auto required = *schema["required"].items_or_none();
  for (const auto members = *schema["properties"].members_or_none(); const json::Member& member : members) {
    if (path.empty() && member.key != "spec" && member.key != "status") continue;
    const bool named = std::ranges::any_of(required, [&](const auto& name) { return *name.string() == member.key; });
    walk(member.value, fmt::format("{}.{}", path, member.key), named, out);
  }
}

template <typename Kind>
void compare() {
  const auto file =
      std::filesystem::path(IPRULE_SOURCE_DIR) / "config/crd/bases" / fmt::format("{}_{}.yaml", kGroup, Kind::kPlural);
  const auto documents = json::from_yaml(base::read_file(file).value()).value();
  ASSERT_EQ(documents.size(), 1U);
  json::Reader reader;
  const json::Value crd = reader.parse(documents[0]).value();
  EXPECT_EQ(*crd["metadata"]["name"].string(), fmt::format("{}.{}", Kind::kPlural, kGroup));
  EXPECT_EQ(*crd["spec"]["names"]["kind"].string(), Kind::kKind);
  const auto versions = *crd["spec"]["versions"].items();
  EXPECT_EQ(*versions.at(0)["name"].string(), kVersion);

  Fields schema;
  walk(versions.at(0)["schema"]["openAPIV3Schema"], "", false, schema);
  const Fields types = fields_of<Kind>();
  for (const auto& [path, type] : schema) {
    EXPECT_EQ(types.contains(path) ? types.at(path) : "nothing", type) << path << ": the type against the CRD";
  }
  for (const auto& [path, type] : types) EXPECT_TRUE(schema.contains(path)) << path << " is not in the CRD";
}

TEST(Crd, iprule_and_its_type_agree) {
  compare<IPRule>();
}
TEST(Crd, iprule_config_and_its_type_agree) {
  compare<IPRuleConfig>();
}
TEST(Crd, agent_and_its_type_agree) {
  compare<Agent>();
}
TEST(Crd, node_state_and_its_type_agree) {
  compare<NodeState>();
}

}  // namespace
}  // namespace api
