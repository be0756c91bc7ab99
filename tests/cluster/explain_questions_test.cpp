// iprulectl over the objects of a cluster: explain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "questions.h"

namespace questions {
namespace {

using testing::HasSubstr;

TEST_F(Questions, services_are_listed_of_one_name_space_or_of_all) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto one = ask({"explain", "svc", "-n", "shop"});
  EXPECT_THAT(one.output, HasSubstr("SERVICE   LOAD BALANCER  IPRULE     STEERED\nfrontend  203.0.113.45   public-eu"));
  const auto all = ask({"explain", "svc", "-A", "-o", "wide"});
  EXPECT_THAT(all.output, HasSubstr("NAMESPACE  SERVICE   LOAD BALANCER  IPRULE     STEERED        CLUSTER-IP"));
  EXPECT_THAT(all.output, HasSubstr("All name spaces: 1 of 1 Services"));
  EXPECT_EQ(ask({"explain", "svc", "-A", "-o", "name"}).output, "service/frontend\n");
  EXPECT_EQ(ask({"explain", "svc", "-A", "-o", "name", "-l", "tier=web"}).output, "");
  EXPECT_EQ(ask({"explain", "svc/frontend", "-n", "shop", "-o", "name"}).exit.code, 2) << "that is no list";
}

TEST_F(Questions, a_service_is_explained_as_if_manifests_were_applied) {
  const auto done = ask({"explain", "svc/frontend", "-n", "shop", "-f", file(rule("Reply"))});
  EXPECT_EQ(done.exit.code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("IPRule/public-eu  has 203.0.113.45: source Reply 203.0.113.45, table 100, "
                                     "priority 1000\n  would be published for the nodes that it selects\n"
                                     "Verdict  steered as wanted, once it is applied\n"));
  EXPECT_EQ(ask({"explain", "svc/frontend", "-n", "shop"}).exit.code, 1) << "nothing was applied";
}

TEST_F(Questions, a_service_is_explained_by_name_and_by_address) {
  const auto none = ask({"explain", "svc/frontend", "-n", "shop"});
  EXPECT_EQ(none.exit.code, 1) << none.errors;
  EXPECT_THAT(none.output, HasSubstr("Verdict  nothing steers it"));
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto done = ask({"explain", "vip/203.0.113.45"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Service shop/frontend  load balancer 203.0.113.45, ClusterIP "));
  EXPECT_THAT(done.output,
              HasSubstr("IPRule/public-eu  has 203.0.113.45: source Reply 203.0.113.45, table 100, priority "
                        "1000\n  not published yet: is a controller running?\n"));
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata: {name: iprc-test, labels: {managed-by: ip-rule-operator}}
spec: {serviceIP: 203.0.113.45, table: 0, routeTable: 100, priority: 1000, state: present, sourceMode: Reply}
)");
  EXPECT_THAT(ask({"explain", "svc/frontend", "-n", "shop"}).output,
              HasSubstr("  IPRuleConfig/iprc-test  applied on 0/2 nodes\nVerdict  NOT STEERED AS WANTED"));
  const auto wrong = ask({"explain", "svc/fronted", "-n", "shop"});
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("did you mean \"frontend\"?"));
}

TEST_F(Questions, a_pod_a_name_space_and_a_node_are_explained) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  kubectl({"create", "serviceaccount", "pods", "-n", "shop"});
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Pod
metadata: {name: frontend-1, namespace: shop}
spec: {nodeName: worker-1, serviceAccountName: pods, containers: [{name: web, image: web}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: frontend-1, namespace: shop, labels: {kubernetes.io/service-name: frontend}}
addressType: IPv4
endpoints: [{addresses: [10.244.1.7], nodeName: worker-1, conditions: {ready: true}}]
)");
  patch_status("pod", "frontend-1", R"({"podIP":"10.244.1.7","podIPs":[{"ip":"10.244.1.7"}]})", "shop");

  const auto pod = ask({"explain", "pod/frontend-1", "-n", "shop", "--client", "198.18.7.9"});
  EXPECT_EQ(pod.exit.code, 3) << pod.errors;
  EXPECT_THAT(pod.output, HasSubstr("Pod shop/frontend-1  10.244.1.7 on worker-1, answers for 1 Service\n"));
  EXPECT_THAT(pod.output, HasSubstr("Service shop/frontend  load balancer 203.0.113.45"));
  EXPECT_THAT(pod.output, HasSubstr("Not asked: the kernel of worker-1: "));
  EXPECT_EQ(ask({"explain", "pod/none", "-n", "shop"}).errors,
            "iprulectl: there is no pod \"none\" in name space shop; -n names another\n");

  const auto ns = ask({"explain", "ns/shop"});
  EXPECT_EQ(ns.exit.code, 1) << ns.errors;
  EXPECT_THAT(ns.output, HasSubstr("\nfrontend  203.0.113.45   public-eu  NOT AS WANTED\n"));

  const auto node = ask({"explain", "node/worker-2"});
  EXPECT_EQ(node.exit.code, 3) << node.errors;
  EXPECT_THAT(node.output, HasSubstr("Diff: 0 of 1 nodes differ"));
  EXPECT_THAT(node.output, HasSubstr("worker-2, by what its agent reported\n"));
  EXPECT_THAT(node.output, HasSubstr("5 repairs in a minute"));
  kubectl({"delete", "-n", "shop", "pod/frontend-1", "endpointslice/frontend-1", "--grace-period=0", "--force"});
}

}  // namespace
}  // namespace questions
