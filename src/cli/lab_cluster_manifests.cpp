#include "cli/lab_cluster_manifests.h"

#include <cstddef>

#include <fmt/format.h>

#include "lab/responder.h"

namespace cli {
namespace {

std::string endpoint(const lab::SceneNode& node, net::Family family) {
  const bool v4 = family == net::Family::v4;
  return fmt::format(R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: frontend-{0}-{1}, namespace: shop, labels: {{kubernetes.io/service-name: frontend-{0}}}}}
addressType: {2}
ports: [{{port: {3}, protocol: TCP}}]
endpoints: [{{addresses: ["{4}"], nodeName: {0}, conditions: {{ready: true}}}}]
)",
                     node.name, v4 ? "v4" : "v6", v4 ? "IPv4" : "IPv6", lab::kServicePort,
                     lab::of_family(node.pod_address, family).text());
}

}  // namespace

std::string lab_nodes(const std::vector<lab::SceneNode>& nodes, const std::vector<lab::AddressPair>& addresses) {
  std::string out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out += fmt::format(R"(---
apiVersion: v1
kind: Node
metadata: {{name: {}, labels: {{kubernetes.io/os: linux}}}}
status: {{addresses: [{{type: InternalIP, address: "{}"}}, {{type: InternalIP, address: "{}"}}]}}
)",
                       nodes[i].name, addresses.at(i)[0].text(), addresses.at(i)[1].text());
  }
  return out;
}

std::string lab_endpoints(const std::vector<lab::SceneNode>& nodes) {
  std::string out;
  for (const lab::SceneNode& node : nodes) out += endpoint(node, net::Family::v4) + endpoint(node, net::Family::v6);
  return out;
}

std::string lab_agent_pod(const lab::SceneNode& node) {
  return "iprule-agent-" + node.name;
}

std::string lab_agents(const std::vector<lab::SceneNode>& nodes, std::string_view ns) {
  std::string out = fmt::format(R"(---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {{name: agent, namespace: {}}}
)",
                                ns);
  for (const lab::SceneNode& node : nodes) {
    out += fmt::format(R"(---
apiVersion: v1
kind: Pod
metadata:
  name: {}
  namespace: {}
  labels: {{app: iprule-agent, app.kubernetes.io/name: ip-rule-operator}}
spec: {{nodeName: {}, serviceAccountName: iprule-agent, containers: [{{name: agent, image: iprule-agent}}]}}
)",
                       lab_agent_pod(node), ns, node.name);
  }
  return out;
}

}  // namespace cli
