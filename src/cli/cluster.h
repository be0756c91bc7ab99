#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/explain_service.h"
#include "cli/preflight.h"
#include "cli/status.h"
#include "kube/client.h"

namespace cli {

struct ClusterOptions {
  std::filesystem::path kubeconfig;  // Empty: KUBECONFIG, the pod's account, ~/.kube/config.
  std::string context;               // Empty: the current one.
  std::string cluster;               // Empty: the context's,
  std::string user;                  // as this.
  std::string as;                    // Whom to be for the server; empty: ourselves.
  std::vector<std::string> as_groups;
  std::chrono::seconds timeout{10};  // For each question.
};

// A cluster to ask through its API server. What that does not answer is a gap in what is read, not an error.
class Cluster {
 public:
  // An error where there is nothing to ask with: no kubeconfig, or one that cannot be read.
  static base::Result<Cluster> connect(const ClusterOptions& options);

  ClusterFacts read_facts();
  ClusterObjects read_objects();
  ClusterSetup read_setup();
  base::Result<PodPlace> find_pod(const std::string& ns, const std::string& name);
  // For the nodes of `objects`; both must outlive it.
  AskNode asker(const ClusterObjects& objects);

 private:
  Cluster(std::unique_ptr<kube::Client> client, std::chrono::seconds timeout)
      : client_(std::move(client)), timeout_(timeout) {}

  std::unique_ptr<kube::Client> client_;
  std::chrono::seconds timeout_;
};

}  // namespace cli
