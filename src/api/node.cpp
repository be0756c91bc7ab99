#include "api/node.h"

#include <algorithm>

namespace api {
namespace {

namespace field = json::field;

constexpr json::Schema kNodeSpec{field::texts(7, "podCIDRs")};
constexpr json::Schema kNodeAddress{field::text(1, "type"), field::text(2, "address")};
constexpr json::Schema kNodeInfo{field::text(3, "bootID")};
constexpr json::Schema kNodeStatus{field::messages(5, "addresses", kNodeAddress),
                                   field::message(7, "nodeInfo", kNodeInfo)};

}  // namespace

constexpr json::Schema Node::kMessage{field::message(1, "metadata", meta::kMetaMessage),
                                      field::message(2, "spec", kNodeSpec), field::message(3, "status", kNodeStatus)};

base::Result<Node> decode_node(const json::Value& object) {
  Node out;
  out.meta = TRY(meta::decode_meta(object, {.annotations = false, .owners = false, .finalizers = false}));
  for (const json::Value& cidr : TRY(object["spec"]["podCIDRs"].items_or_none())) {
    if (const auto prefix = net::Prefix::parse(TRY(cidr.string()))) out.pod_cidrs.push_back(*prefix);
  }
  for (const json::Value& entry : TRY(object["status"]["addresses"].items_or_none())) {
    if (TRY(entry["type"].string_or("")) != "InternalIP") continue;
    if (const auto address = net::Address::parse(TRY(entry["address"].string_or(""))))
      out.addresses.push_back(*address);
  }
  out.boot_id = TRY(object["status"]["nodeInfo"]["bootID"].string_or(""));
  std::ranges::sort(out.pod_cidrs);
  std::ranges::sort(out.addresses);
  return out;
}

bool same_place(const Node& left, const Node& right) {
  return left.meta.uid == right.meta.uid && left.meta.labels == right.meta.labels &&
         left.pod_cidrs == right.pod_cidrs && left.addresses == right.addresses && left.boot_id == right.boot_id;
}

}  // namespace api
