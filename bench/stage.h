#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/client.h"
#include "lab/world.h"
#include "testbed/cluster.h"

namespace bench {

// A control plane that knows our kinds, and nodes beside it: network namespaces plugged into its network.
class Stage {
 public:
  static base::Result<std::unique_ptr<Stage>> build();

  testbed::Cluster& cluster() { return *cluster_; }
  kube::Client& client() { return *client_; }
  std::string access() const { return cluster_->admin_kubeconfig().native(); }
  base::Status create(std::string_view manifest);
  // Only the namespace; its Node is another matter.
  base::Result<lab::Host*> add_host(const std::string& name);

  // How many requests the API server has answered to programs whose name begins so.
  struct Requests {
    std::uint64_t watches = 0;  // Each is renewed every few minutes.
    std::uint64_t others = 0;

    std::uint64_t all() const { return watches + others; }
  };
  Requests requests_of(std::string_view user_agent) const;

 private:
  Stage() = default;

  std::unique_ptr<testbed::Cluster> cluster_;
  std::unique_ptr<kube::Client> client_;
  std::optional<lab::World> world_;  // After the cluster, whose bridge the nodes are plugged into.
};

}  // namespace bench
