#include "cli/lab_manifests.h"

#include <fmt/format.h>

#include "lab/responder.h"

namespace cli {
namespace {

std::string service(const lab::SceneNode& node) {
  return fmt::format(R"(---
apiVersion: v1
kind: Service
metadata: {{name: frontend-{0}, namespace: shop}}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  ipFamilyPolicy: RequireDualStack
  clusterIP: "{1}"
  clusterIPs: ["{1}", "{2}"]
  ports: [{{port: {5}}}]
status: {{loadBalancer: {{ingress: [{{ip: "{3}"}}, {{ip: "{4}"}}]}}}}
)",
                     node.name, node.service[0].text(), node.service[1].text(), node.vip[0].text(), node.vip[1].text(),
                     lab::kServicePort);
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

std::string lab_rule(std::string_view mode) {
  return fmt::format(R"(---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: public-eu}}
spec: {{cidrs: [203.0.113.0/24, 203.1.0.0/16, "2001:db8:113::/64"], table: {}, priority: 1000, source: {{modes: [{}]}}}}
)",
                     lab::Scene::kTable, mode);
}

std::string lab_services(const std::vector<lab::SceneNode>& nodes) {
  std::string out;
  for (const lab::SceneNode& node : nodes) out += service(node);
  return out;
}

std::string lab_more_services(int count) {
  std::string out;
  for (int number = 0; number < count; ++number) out += another_service(number);
  return out;
}

}  // namespace cli
