#include "testbed/kube_proxy.h"

#include <fmt/format.h>

#include "base/file.h"

namespace testbed {

base::Result<lab::Process*> start_kube_proxy(Cluster& cluster, lab::Host& node) {
  const std::filesystem::path access = cluster.kubeconfig(cluster.user("system:kube-proxy"));
  const std::filesystem::path config = access.native() + ".kube-proxy";
  // The zeros keep it from changing conntrack settings, some of which are the whole machine's.
  TRY(base::write_file(config, fmt::format(R"(apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
hostnameOverride: {}
clientConnection: {{kubeconfig: {}}}
clusterCIDR: 10.244.0.0/16,fd00:10:244::/48
conntrack: {{maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}}
nftables: {{minSyncPeriod: 0s}}
)",
                                           node.name(), access.native())));
  return node.start({.arguments = {cluster.program(), "kube-proxy", "--config=" + config.native()}});
}

}  // namespace testbed
