#include "api/daemon_set.h"

#include "api/codec.h"

namespace api {

base::Result<DaemonSet> decode_daemon_set(const json::Value& object) {
  DaemonSet out;
  out.meta = TRY(meta::decode_meta(object, {.annotations = false}));
  Decoder decoder(object);
  decoder("spec", out.spec);
  decoder("status", out.status);
  TRY(std::move(decoder).status());
  return out;
}

std::string encode(const DaemonSet& set) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", DaemonSet::kApiVersion);
    out.put("kind", DaemonSet::kKind);
    meta::encode_meta(out, set.meta);
    Encoder encoder(out);
    encoder.required("spec", set.spec);
  });
}

}  // namespace api
