#include "api/service.h"

#include <algorithm>
#include <string_view>

namespace api {
namespace {

namespace field = json::field;

constexpr json::Schema kServiceSpec{field::text(3, "clusterIP"), field::text(4, "type"),
                                    field::texts(18, "clusterIPs")};
constexpr json::Schema kIngress{field::text(1, "ip"), field::text(2, "hostname"), field::text(3, "ipMode")};
constexpr json::Schema kLoadBalancer{field::messages(1, "ingress", kIngress)};
constexpr json::Schema kServiceStatus{field::message(1, "loadBalancer", kLoadBalancer)};

// clusterIPs, or clusterIP alone on servers without it; "None" and "" are no addresses.
base::Result<std::vector<net::Address>> cluster_ips(const json::Value& spec) {
  std::vector<net::Address> out;
  const auto take = [&](std::string_view text) {
    if (text.empty() || text == "None") return;  // Many have none: not worth the words of an error.
    const auto address = net::Address::parse(text);
    if (!address) return;
    const auto same_family = [&](const net::Address& other) { return other.family() == address->family(); };
    if (std::ranges::none_of(out, same_family)) out.push_back(*address);
  };
  for (const json::Value& item : TRY(spec["clusterIPs"].items_or_none())) take(TRY(item.string()));
  if (out.empty()) take(TRY(spec["clusterIP"].string_or("")));
  return out;
}

void sort_unique(std::vector<net::Address>& addresses) {
  std::ranges::sort(addresses);
  const auto copies = std::ranges::unique(addresses);
  addresses.erase(copies.begin(), copies.end());
  addresses.shrink_to_fit();
}

}  // namespace

constexpr json::Schema Service::kMessage{field::message(1, "metadata", meta::kIdentityMessage),
                                         field::message(2, "spec", kServiceSpec),
                                         field::message(3, "status", kServiceStatus)};

base::Result<Service> decode_service(const json::Value& object) {
  Service out;
  out.meta = TRY(meta::decode_meta(object, meta::Keep::identity()));
  out.is_load_balancer = TRY(object["spec"]["type"].string_or("")) == "LoadBalancer";
  out.cluster_ips = TRY(cluster_ips(object["spec"]));
  for (const json::Value& entry : TRY(object["status"]["loadBalancer"]["ingress"].items_or_none())) {
    const std::string_view ip = TRY(entry["ip"].string_or(""));
    if (ip.empty()) {
      if (entry["hostname"].exists()) ++out.hostnames;
      continue;
    }
    const auto address = net::Address::parse(ip);
    if (!address) continue;
    out.vips.push_back(*address);
    if (TRY(entry["ipMode"].string_or("")) == "Proxy") out.proxied_vips.push_back(*address);
  }
  sort_unique(out.vips);
  sort_unique(out.proxied_vips);
  return out;
}

bool same_addresses(const Service& left, const Service& right) {
  return left.is_load_balancer == right.is_load_balancer && left.cluster_ips == right.cluster_ips &&
         left.vips == right.vips && left.proxied_vips == right.proxied_vips && left.hostnames == right.hostnames &&
         left.meta.uid == right.meta.uid;
}

}  // namespace api
