#include "api/endpoint_slice.h"

#include <algorithm>

namespace api {
namespace {

namespace field = json::field;

constexpr json::Schema kConditions{field::flag(1, "ready")};
constexpr json::Schema kEndpoint{field::texts(1, "addresses"), field::message(2, "conditions", kConditions),
                                 field::text(6, "nodeName")};

}  // namespace

constexpr json::Schema EndpointSlice::kMessage{field::message(1, "metadata", meta::kMetaMessage),
                                               field::messages(2, "endpoints", kEndpoint)};

base::Result<EndpointSlice> decode_endpoint_slice(const json::Value& object) {
  EndpointSlice out;
  out.meta = TRY(meta::decode_meta(object, meta::Keep::identity()));
  out.service = TRY(object["metadata"]["labels"]["kubernetes.io/service-name"].string_or(""));
  const auto endpoints = TRY(object["endpoints"].items_or_none());
  for (const json::Value& endpoint : endpoints) {
    // Not given means ready (discovery/v1 EndpointConditions).
    if (!TRY(endpoint["conditions"]["ready"].boolean_or(true))) continue;
    const std::string_view node = TRY(endpoint["nodeName"].string_or(""));
    const auto addresses = TRY(endpoint["addresses"].items_or_none());
    for (const json::Value& text : addresses) {
      const auto address = net::Address::parse(TRY(text.string()));
      if (address) out.ready.push_back({.address = *address, .node_name = std::string(node)});
    }
  }
  std::ranges::sort(out.ready);
  const auto copies = std::ranges::unique(out.ready);
  out.ready.erase(copies.begin(), copies.end());
  out.ready.shrink_to_fit();
  return out;
}

bool same_endpoints(const EndpointSlice& left, const EndpointSlice& right) {
  return left.meta.uid == right.meta.uid && left.service == right.service && left.ready == right.ready;
}

}  // namespace api
