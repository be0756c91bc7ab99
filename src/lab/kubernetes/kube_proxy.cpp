#include "lab/kubernetes/kube_proxy.h"

#include <fmt/format.h>

#include "base/file.h"

namespace lab {

base::Result<Process*> start_kube_proxy(ControlPlane& plane, Host& node) {
  const auto access = TRY(plane.write_kubeconfig(plane.user("system:kube-proxy")));
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
  return node.start({.arguments = {plane.program(), "kube-proxy", "--config=" + config.native()}});
}

}  // namespace lab
