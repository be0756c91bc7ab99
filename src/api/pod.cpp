#include "api/pod.h"

namespace api {

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
