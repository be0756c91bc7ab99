#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "meta/meta.h"
#include "net/address.h"
#include "net/prefix.h"

namespace api {

// The slice of a core/v1 Node that selection and the cluster's own prefixes need.
struct Node {
  static constexpr unsigned kPageSize = 50;  // With its images it may have 30 KiB.
  static const json::Schema kMessage;

  meta::Meta meta;                      // With labels.
  std::vector<net::Prefix> pod_cidrs;   // In canonical order.
  std::vector<net::Address> addresses;  // Internal ones, in canonical order.
  std::string boot_id;                  // As the kubelet read it; empty where none has.

  bool operator==(const Node&) const = default;
};

// What cannot be read as prefix or address is left out: a Node is not ours to judge.
base::Result<Node> decode_node(const json::Value& object);

// Whether a change from one to the other can change any rule or report; kubelets write their Nodes all the time.
bool same_place(const Node& left, const Node& right);

}  // namespace api
