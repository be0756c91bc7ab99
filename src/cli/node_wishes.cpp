#include "cli/node_wishes.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/assignment.h"

namespace cli {
namespace {

constexpr std::size_t kMostFrontends = 1000;

// Without what a node does not look at.
api::IPRule lean(const api::IPRule& rule) {
  api::IPRule out{.meta = {}, .spec = rule.spec, .status = {}};
  out.meta.name = rule.meta.name;
  return out;
}

std::vector<net::Prefix> prefixes_of(const std::vector<api::IPRule>& rules) {
  std::vector<net::Prefix> out;
  for (const api::IPRule& rule : rules) {
    const auto accepted = api::accept(rule);
    out.insert(out.end(), accepted.prefixes.begin(), accepted.prefixes.end());
  }
  return out;
}

void put_addresses(json::Array& list, const std::vector<net::Address>& addresses) {
  for (const net::Address& address : addresses) list.put(address.text());
}

base::Result<net::Address> decode_address(const json::Value& value) {
  const auto text = TRY(value.string());
  return base::within(value.path(), net::Address::parse(text));
}

base::Result<Frontend> decode_frontend(const json::Value& value) {
  Frontend out{.vip = TRY(decode_address(value["vip"]))};
  const auto inside = TRY(value["clusterIPs"].items_or_none());
  for (const json::Value& item : inside) out.cluster_ips.push_back(TRY(decode_address(item)));
  return out;
}

}  // namespace

NodeWishes wishes_on(const ClusterObjects& objects, const std::string& node) {
  const agent::NodeSettings settings = settings_on(objects, node);
  NodeWishes out{.default_priority = agent::default_priority(objects.wanted), .dataplane = settings.dataplane};
  for (const api::IPRule& rule : objects.wanted.rules) {
    if (api::accept(rule).accepted() && rule.spec.node_selector.matches(settings.labels)) {
      out.rules.push_back(lean(rule));
    }
  }
  std::ranges::sort(out.rules, {}, [](const api::IPRule& rule) -> const std::string& { return rule.meta.name; });
  return out;
}

std::vector<Frontend> frontends_in(const ClusterObjects& objects, const std::vector<api::IPRule>& rules) {
  std::vector<Frontend> out;
  for (const api::Service& service : objects.wanted.services) {
    if (!service.is_load_balancer) continue;
    for (const net::Address& vip : service.vips) {
      // A proxying load balancer connects to the nodes with another address.
      if (std::ranges::find(service.proxied_vips, vip) != service.proxied_vips.end()) continue;
      out.push_back({.vip = vip, .cluster_ips = service.cluster_ips});
    }
  }
  std::ranges::sort(out, {}, &Frontend::vip);
  std::ranges::stable_partition(out, [prefixes = prefixes_of(rules)](const Frontend& frontend) {
    return std::ranges::any_of(prefixes, [&](const net::Prefix& one) { return one.contains(frontend.vip); });
  });
  if (out.size() > kMostFrontends) out.resize(kMostFrontends);
  return out;
}

void put(json::Object& out, const NodeWishes& wishes) {
  out.array("rules", [&](json::Array& list) {
    for (const api::IPRule& rule : wishes.rules) list.put_json(api::encode(rule));
  });
  out.array("frontends", [&](json::Array& list) {
    for (const Frontend& frontend : wishes.frontends) {
      list.object([&](json::Object& item) {
        item.put("vip", frontend.vip.text());
        item.array("clusterIPs", [&](json::Array& inside) { put_addresses(inside, frontend.cluster_ips); });
      });
    }
  });
  out.put("defaultPriority", wishes.default_priority);
  out.put("dataplane", names(wishes.dataplane)[static_cast<std::size_t>(wishes.dataplane)]);
}

base::Result<NodeWishes> decode_wishes(const json::Value& value) {
  NodeWishes out;
  const auto rules = TRY(value["rules"].items_or_none());
  for (const json::Value& item : rules) out.rules.push_back(TRY(api::decode_iprule(item.as_root())));
  const auto frontends = TRY(value["frontends"].items_or_none());
  for (const json::Value& item : frontends) out.frontends.push_back(TRY(decode_frontend(item)));
  out.default_priority = TRY(value["defaultPriority"].integer_or(out.default_priority));
  out.dataplane = TRY(decode_dataplane(value["dataplane"]));
  return out;
}

}  // namespace cli
