#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "json/writer.h"
#include "meta/labels.h"
#include "meta/time.h"

namespace meta {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;

  static base::Result<OwnerReference> decode(const json::Value& value);
  void encode(json::Object& out) const;
  auto operator<=>(const OwnerReference&) const = default;
};

// What every Kubernetes object carries under `metadata`.
struct Meta {
  std::string name;
  std::string ns;  // Empty for cluster-scoped kinds.
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time created{};
  Time deleted{};  // Set while the object waits for its finalizers.
  Labels labels;
  Labels annotations;
  std::vector<OwnerReference> owners;
  std::vector<std::string> finalizers;

  bool terminating() const { return deleted != Time(); }
  bool operator==(const Meta&) const = default;
};

// Which of the larger parts a decoder keeps: ten thousand Services need none of them.
struct Keep {
  bool labels = true;
  bool annotations = true;
  bool owners = true;
  bool finalizers = true;

  static constexpr Keep identity() {
    return {.labels = false, .annotations = false, .owners = false, .finalizers = false};
  }
};

// What a message says under `metadata`: all of it, or no more than Keep::identity() keeps.
extern const json::Schema kMetaMessage;
extern const json::Schema kIdentityMessage;

// From the object that has `metadata`. The name is required, all else may be absent (a manifest has little of it).
base::Result<Meta> decode_meta(const json::Value& object, Keep keep = {});

// What a writer sets: name, namespace, labels, annotations, owners, finalizers, and uid and resourceVersion as
// preconditions where they are known. What the server sets is left out.
void encode_meta(json::Object& out, const Meta& meta);

// "shop/frontend", or the bare name of a cluster-scoped object.
std::string full_name(const Meta& meta);

}  // namespace meta
