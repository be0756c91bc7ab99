#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "json/reader.h"
#include "kube/client.h"

// Why agents do not run, looked up where Kubernetes keeps it. Only asked while they do not: a finished rollout costs no
// request.
namespace controller {

// Whether the account of the pods exists in a namespace.
kube::Result<bool> has_agent_account(kube::Client& client, const std::string& ns, const kube::Limit& limit);

// Why pods of the DaemonSet are refused, in the words of whoever refused the last one.
kube::Result<std::optional<std::string>> why_pods_are_forbidden(kube::Client& client, const std::string& ns,
                                                                const std::string& set_uid, const kube::Limit& limit);

// What keeps pods that are there from running, the first of each kind: "node-1: ImagePullBackOff: ...".
struct PodCauses {
  std::optional<std::string> image_error;
  std::optional<std::string> crashing;
  std::optional<std::string> no_place;
  std::optional<std::string> silent_node;

  bool operator==(const PodCauses&) const = default;
};
kube::Result<PodCauses> why_pods_do_not_run(kube::Client& client, const std::string& ns, const kube::Limit& limit);

// The same from the lists that the server answers with; pure.
base::Result<std::optional<std::string>> forbidden_in(const json::Value& event_list, const std::string& set_uid);
base::Result<PodCauses> causes_in(const json::Value& pod_list);

}  // namespace controller
