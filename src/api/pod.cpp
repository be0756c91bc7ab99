#include "api/pod.h"

namespace api {
namespace {

namespace field = json::field;

constexpr json::Schema kPodSpec{field::text(10, "nodeName")};
constexpr json::Schema kPodCondition{field::text(1, "type"), field::text(2, "status")};
constexpr json::Schema kPodStatus{field::messages(2, "conditions", kPodCondition)};

}  // namespace

constexpr json::Schema Pod::kMessage{field::message(1, "metadata", meta::kMetaMessage),
                                     field::message(2, "spec", kPodSpec), field::message(3, "status", kPodStatus)};

base::Result<Pod> decode_pod(const json::Value& object) {
  Pod out;
  out.meta = TRY(meta::decode_meta(object, meta::Keep::identity()));
  out.node_name = TRY(object["spec"]["nodeName"].string_or(""));
  for (const json::Value& condition : TRY(object["status"]["conditions"].items_or_none())) {
    if (TRY(condition["type"].string_or("")) != "Ready") continue;
    out.is_ready = TRY(condition["status"].string_or("")) == "True";
  }
  // The old project's pods carry no other label than the one they are found by.
  const auto labels = object["metadata"]["labels"];
  out.reports = TRY(labels["app.kubernetes.io/name"].string_or("")) == "ip-rule-operator";
  return out;
}

bool same_agent(const Pod& left, const Pod& right) {
  return left.meta.uid == right.meta.uid && left.node_name == right.node_name && left.is_ready == right.is_ready &&
         left.reports == right.reports && left.meta.terminating() == right.meta.terminating();
}

}  // namespace api
