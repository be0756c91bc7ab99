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

// Why pods wait for their image: "node-1: ImagePullBackOff: ...".
kube::Result<std::optional<std::string>> why_images_are_missing(kube::Client& client, const std::string& ns,
                                                                const kube::Limit& limit);

// The same from the lists that the server answers with; pure.
base::Result<std::optional<std::string>> forbidden_in(const json::Value& event_list, const std::string& set_uid);
base::Result<std::optional<std::string>> image_error_in(const json::Value& pod_list);

}  // namespace controller
