#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "meta/meta.h"
#include "net/address.h"

namespace api {

// The slice of a discovery.k8s.io/v1 EndpointSlice that says which addresses answer for a Service, and where.
struct EndpointSlice {
  static constexpr unsigned kPageSize = 50;  // With the usual 100 endpoints, it has 30 KiB.
  static const json::Schema kMessage;

  struct Endpoint {
    net::Address address;
    std::string node_name;

    auto operator<=>(const Endpoint&) const = default;
  };

  meta::Meta meta;
  std::string service;          // By its label; in the slice's own name space.
  std::vector<Endpoint> ready;  // In order.

  bool operator==(const EndpointSlice&) const = default;
};

// Host names are left out, and addresses that cannot be read: an EndpointSlice is not ours to judge.
base::Result<EndpointSlice> decode_endpoint_slice(const json::Value& object);

// Whether a change from one to the other can change any rule.
bool same_endpoints(const EndpointSlice& left, const EndpointSlice& right);

}  // namespace api
