#pragma once

#include "api/codec.h"
#include "api/kinds.h"
#include "meta/meta.h"

// The frame that all our kinds share: metadata, spec, status. Only the .cpp files of the kinds include this.
namespace api {

template <typename Kind>
base::Result<Kind> decode_object(const json::Value& object) {
  Kind out;
  out.meta = TRY(meta::decode_meta(object));
  Decoder decoder(object);
  if constexpr (Kind::kSpecRequired) {
    decoder.required("spec", out.spec);
  } else {
    decoder("spec", out.spec);
  }
  decoder("status", out.status);
  TRY(std::move(decoder).status());
  return out;
}

template <typename Kind>
std::string encode_object(const Kind& kind) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", kApiVersion);
    out.put("kind", Kind::kKind);
    meta::encode_meta(out, kind.meta);
    Encoder encoder(out);
    encoder.required("spec", kind.spec);
    encoder("status", kind.status);
  });
}

}  // namespace api
