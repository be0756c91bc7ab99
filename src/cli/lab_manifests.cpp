#include "cli/lab_manifests.h"

#include <fmt/format.h>

namespace cli {
namespace {

std::string rule(std::string_view mode) {
  return fmt::format(R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: public-eu}}
spec: {{cidrs: [203.0.113.0/24, 203.1.0.0/16, "2001:db8:113::/64"], table: {}, priority: 1000, source: {{modes: [{}]}}}}
)",
                     lab::Scene::kTable, mode);
}

std::string service(const lab::SceneNode& node) {
  return fmt::format(R"(---
apiVersion: v1
kind: Service
metadata: {{name: frontend-{}, namespace: shop}}
spec: {{type: LoadBalancer, clusterIPs: ["{}", "{}"]}}
status: {{loadBalancer: {{ingress: [{{ip: "{}"}}, {{ip: "{}"}}]}}}}
)",
                     node.name, node.service[0].text(), node.service[1].text(), node.vip[0].text(), node.vip[1].text());
}

std::string another_service(int number) {
  constexpr int kPerNet = 250;
  return fmt::format(R"(---
apiVersion: v1
kind: Service
metadata: {{name: s{0}, namespace: shop}}
spec: {{type: LoadBalancer, clusterIPs: ["10.97.{1}.{2}"]}}
status: {{loadBalancer: {{ingress: [{{ip: "203.1.{1}.{2}"}}]}}}}
)",
                     number, number / kPerNet, number % kPerNet + 1);
}

}  // namespace

std::string lab_manifests(const std::vector<lab::SceneNode>& nodes, std::string_view mode, int more_services) {
  std::string out = rule(mode);
  for (const lab::SceneNode& node : nodes) out += service(node);
  for (int number = 0; number < more_services; ++number) out += another_service(number);
  return out;
}

}  // namespace cli
