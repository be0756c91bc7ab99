#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "meta/meta.h"
#include "net/address.h"

namespace api {

// The slice of a core/v1 Service that decides about its rules. Ten thousand of them must be cheap: addresses are kept
// as values, of the metadata only the identity.
struct Service {
  static const json::Schema kMessage;

  meta::Meta meta;
  bool is_load_balancer = false;
  std::vector<net::Address> cluster_ips;   // At most one of each family.
  std::vector<net::Address> vips;          // status.loadBalancer.ingress, in canonical order, each once.
  std::uint32_t hostnames = 0;             // Ingress entries that name a host instead of an address.
  std::vector<net::Address> proxied_vips;  // Of `vips`, those with ipMode Proxy: connections never carry them here.

  bool operator==(const Service&) const = default;
};

// An entry whose address cannot be read is left out: nothing of the Service's other addresses depends on it.
base::Result<Service> decode_service(const json::Value& object);

// Whether a change from one to the other can change any rule; the rest of a Service changes often and means nothing.
bool same_addresses(const Service& left, const Service& right);

}  // namespace api
