#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/explain_service.h"
#include "cli/followed_cluster.h"
#include "cli/followed_kind.h"
#include "cli/kubectl_proxy.h"
#include "cli/preflight.h"
#include "cli/status.h"
#include "cli/version.h"
#include "kube/client.h"
#include "kube/request.h"
#include "runtime/signal.h"

namespace cli {

// How the API server is reached.
enum class Via : std::uint8_t {
  kubeconfig,  // By what it says.
  kubectl,     // By kubectl's proxy, which knows every way to log in.
};

struct ClusterOptions {
  Via via = Via::kubeconfig;
  std::filesystem::path kubeconfig;  // Empty: KUBECONFIG, ~/.kube/config, the pod's account.
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

  // Of the context; objects that are named without one are meant there.
  const std::string& ns() const { return ns_; }

  ClusterFacts read_facts();
  ClusterObjects read_objects();
  ClusterSetup read_setup();
  ClusterVersions read_versions();
  // What is told from now on, by watches; `changed` and this must outlive it.
  std::unique_ptr<FollowedCluster> follow(runtime::Signal& changed);
  std::unique_ptr<FollowedKind<api::NodeState>> follow_reports(runtime::Signal& changed);  // Of the nodes alone.
  // The objects of a kind that the server finds by selectors, as kubectl's -l and --field-selector.
  base::Result<std::vector<kube::Key>> select(const kube::Resource& resource, const kube::Selection& selection);
  base::Result<PodPlace> find_pod(const std::string& ns, const std::string& name);
  // For the nodes of `objects`; both must outlive it.
  AskNode asker(const ClusterObjects& objects);

 private:
  Cluster(std::unique_ptr<KubectlProxy> proxy, std::unique_ptr<kube::Client> client, std::string ns,
          std::chrono::seconds timeout)
      : proxy_(std::move(proxy)), client_(std::move(client)), ns_(std::move(ns)), timeout_(timeout) {}

  std::unique_ptr<KubectlProxy> proxy_;  // Where there is one; the client talks to it.
  std::unique_ptr<kube::Client> client_;
  std::string ns_;
  std::chrono::seconds timeout_;
};

}  // namespace cli
