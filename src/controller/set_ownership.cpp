#include "controller/set_ownership.h"

#include <algorithm>
#include <string_view>

#include "api/agent.h"
#include "api/kinds.h"
#include "json/reader.h"
#include "json/writer.h"
#include "kube/client.h"

namespace controller {

using api::Agent;
using api::DaemonSet;

namespace {

bool is_agent(const meta::OwnerReference& owner) {
  return owner.kind == Agent::kKind && owner.api_version.starts_with(std::string(api::kGroup) + "/");
}

}  // namespace

const meta::OwnerReference* controller_of(const DaemonSet& set) {
  const auto found = std::ranges::find_if(set.meta.owners, &meta::OwnerReference::controller);
  return found != set.meta.owners.end() ? &*found : nullptr;
}

std::optional<std::string> foreign_owner(const DaemonSet& set) {
  if (const auto* owner = controller_of(set)) {
    return is_agent(*owner) ? std::nullopt : std::optional(owner->kind + " " + owner->name);
  }
  if (set.meta.labels.get(api::kManagedByLabel) == api::kManagedByValue) return std::nullopt;
  return "nobody we know";
}

bool has_our_template(const DaemonSet& live, const DaemonSet& wanted) {
  constexpr std::string_view kLabel = "app.kubernetes.io/name";
  return live.spec.pod.meta.labels.get(kLabel) == wanted.spec.pod.meta.labels.get(kLabel);
}

std::string encode_transfer(const DaemonSet& live, const DaemonSet& wanted) {
  json::Reader reader;
  const auto whole = reader.parse(api::encode(wanted));
  return json::object([&](json::Object& out) {
    out.object("metadata", [&](json::Object& meta) {
      meta.put("uid", live.meta.uid);
      meta.put("resourceVersion", live.meta.resource_version);
      meta.array("ownerReferences", [&](json::Array& owners) {
        owners.object([&](json::Object& item) { wanted.meta.owners.front().encode(item); });
        for (const auto& other : live.meta.owners) {
          if (!is_agent(other)) owners.object([&](json::Object& item) { other.encode(item); });
        }
      });
    });
    out.put_json("spec", whole.value()["spec"].text());
  });
}

std::string encode_sole_writer(const DaemonSet& live) {
  return json::object([&](json::Object& out) {
    out.object("metadata", [&](json::Object& meta) {
      meta.put("uid", live.meta.uid);
      meta.array("managedFields", [&](json::Array& writers) {
        writers.object([&](json::Object& one) {
          one.put("manager", kube::Actor().field_manager);
          one.put("operation", "Apply");
          one.put("apiVersion", DaemonSet::kApiVersion);
          one.put("fieldsType", "FieldsV1");
          one.put_json("fieldsV1", R"({"f:metadata":{"f:labels":{"f:app":{}}}})");
        });
      });
    });
  });
}

}  // namespace controller
