#include "meta/meta.h"

#include <algorithm>

#include <fmt/format.h>

namespace meta {
namespace {

base::Result<Time> decode_time(const json::Value& value) {
  if (!value.exists()) return Time();
  const auto time = parse_time(TRY(value.string()));
  if (!time) return value.fail(time.error().message());
  return *time;
}

constexpr std::int64_t kYear1 = -62'135'596'800;  // The seconds of its first instant, where Go's time begins.
constexpr std::int64_t kYear10000 = 253'402'300'800;

// meta/v1 Time, as Go would write it in JSON; none is an empty message, or the instant that is none in Go. No other is
// refused for being far away, as it says of an object that it is to go: a server that is asked to be patient for
// 9999999999 s computes an instant in 1758. Of what no text can say, the nearest that one can is said.
base::Result<std::string> words_of_time(std::string_view message) {
  std::int64_t seconds = 0;
  json::MessageFields fields(message);
  while (fields.next()) {
    if (fields.number() == 1 && fields.has_value()) seconds = static_cast<std::int64_t>(fields.value());
  }
  if (fields.broken()) return base::fail(base::Fault::invalid, "not a valid time");
  if (message.empty() || seconds == kYear1) return "";
  return format_time(Time(std::chrono::seconds(std::clamp(seconds, kYear1 + 1, kYear10000 - 1))));
}

namespace field = json::field;

constexpr json::Schema kOwnerMessage{field::text(1, "kind"),       field::text(3, "name"),
                                     field::text(4, "uid"),        field::text(5, "apiVersion"),
                                     field::flag(6, "controller"), field::flag(7, "blockOwnerDeletion")};

void encode_labels(json::Object& out, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  out.object(key, [&](json::Object& entries) { labels.encode(entries); });
}

}  // namespace

constexpr json::Schema kIdentityMessage{field::text(1, "name"),
                                        field::text(3, "namespace"),
                                        field::text(5, "uid"),
                                        field::text(6, "resourceVersion"),
                                        field::number(7, "generation"),
                                        field::words(8, "creationTimestamp", words_of_time),
                                        field::words(9, "deletionTimestamp", words_of_time)};

constexpr json::Schema kMetaMessage(kIdentityMessage, {field::map(11, "labels"), field::map(12, "annotations"),
                                                       field::messages(13, "ownerReferences", kOwnerMessage),
                                                       field::texts(14, "finalizers")});

base::Result<OwnerReference> OwnerReference::decode(const json::Value& value) {
  return OwnerReference{
      .api_version = std::string(TRY(value["apiVersion"].string())),
      .kind = std::string(TRY(value["kind"].string())),
      .name = std::string(TRY(value["name"].string())),
      .uid = std::string(TRY(value["uid"].string_or(""))),
      .controller = TRY(value["controller"].boolean_or(false)),
      .block_owner_deletion = TRY(value["blockOwnerDeletion"].boolean_or(false)),
  };
}

void OwnerReference::encode(json::Object& out) const {
  out.put("apiVersion", api_version);
  out.put("kind", kind);
  out.put("name", name);
  out.put("uid", uid);
  out.put_unless_empty("controller", controller);
  out.put_unless_empty("blockOwnerDeletion", block_owner_deletion);
}

base::Result<Meta> decode_meta(const json::Value& object, Keep keep) {
  const json::Value value = object["metadata"];
  Meta out;
  out.name = TRY(value["name"].string());
  out.ns = TRY(value["namespace"].string_or(""));
  out.uid = TRY(value["uid"].string_or(""));
  out.resource_version = TRY(value["resourceVersion"].string_or(""));
  out.generation = TRY(value["generation"].integer_or(std::int64_t{0}));
  out.created = TRY(decode_time(value["creationTimestamp"]));
  out.deleted = TRY(decode_time(value["deletionTimestamp"]));
  if (keep.labels) out.labels = TRY(Labels::decode(value["labels"]));
  if (keep.annotations) out.annotations = TRY(Labels::decode(value["annotations"]));
  if (keep.owners) {
    for (const json::Value& owner : TRY(value["ownerReferences"].items_or_none())) {
      out.owners.push_back(TRY(OwnerReference::decode(owner)));
    }
  }
  if (keep.finalizers) {
    for (const json::Value& finalizer : TRY(value["finalizers"].items_or_none())) {
      out.finalizers.emplace_back(TRY(finalizer.string()));
    }
  }
  return out;
}

void encode_meta(json::Object& out, const Meta& meta) {
  out.object("metadata", [&](json::Object& value) {
    value.put("name", meta.name);
    value.put_unless_empty("namespace", meta.ns);
    value.put_unless_empty("uid", meta.uid);
    value.put_unless_empty("resourceVersion", meta.resource_version);
    encode_labels(value, "labels", meta.labels);
    encode_labels(value, "annotations", meta.annotations);
    if (!meta.owners.empty()) {
      value.array("ownerReferences", [&](json::Array& owners) {
        for (const OwnerReference& owner : meta.owners) owners.object([&](json::Object& item) { owner.encode(item); });
      });
    }
    if (!meta.finalizers.empty()) {
      value.array("finalizers", [&](json::Array& finalizers) {
        for (const std::string& finalizer : meta.finalizers) finalizers.put(finalizer);
      });
    }
  });
}

std::string full_name(const Meta& meta) {
  return meta.ns.empty() ? meta.name : fmt::format("{}/{}", meta.ns, meta.name);
}

}  // namespace meta
