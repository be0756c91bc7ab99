#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "net/address.h"

namespace cli {

// What is to be explained of a cluster: "svc/NAME", "vip/ADDRESS", "pod/NAME", "ns/NAME", "node/NAME", one of our own
// objects, or "svc" for a list of Services.
struct Subject {
  enum class Kind { service, services, vip, pod, name_space, node, rule, config, agent };
  Kind kind = Kind::service;
  std::string name;

  bool is_list() const { return kind == Kind::services || kind == Kind::name_space; }
};
// Nothing where it has no such form, as a finding's code.
std::optional<Subject> parse_subject(std::string_view what);

// A pod's place.
struct PodPlace {
  std::string name;
  std::vector<net::Address> addresses;
  std::string node;
};

// Which replies to follow through the kernels of nodes.
struct FollowReplies {
  std::optional<net::Address> client{};  // To whom; none: no kernel is asked.
  std::vector<std::string> nodes{};      // Only of pods on these; empty: of all.
  std::vector<net::Address> pods{};      // Only of these; empty: of all.
};

// Why replies of a Service go where they go: which IPRule has its addresses, what was published for them, which nodes
// have reported it, and whether packets can meet it there. With a client, the kernels of the pods' nodes are asked.
base::Result<Answer> explain_service(const ClusterObjects& objects, const Subject& subject, const std::string& ns,
                                     const FollowReplies& follow, const AskNode& ask);

// The same of every Service that leads to the pod.
base::Result<Answer> explain_pod(const ClusterObjects& objects, const PodPlace& pod, const std::string& ns,
                                 FollowReplies follow, const AskNode& ask);

}  // namespace cli
