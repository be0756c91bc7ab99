// iprulectl over the objects of a cluster: doctor, and what is said of kernels that cannot be asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "questions.h"

namespace questions {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Questions, doctor_advises_by_what_agents_reported) {
  const auto done = ask({"doctor"});
  EXPECT_THAT(done.output, HasSubstr("worker-1, worker-2 (2 alike), by what its agent reported\n"));
  EXPECT_THAT(done.output, HasSubstr("kube-proxy nftables: replies are routed with the pod's address\n"));
  EXPECT_THAT(done.output,
              HasSubstr("Works here: Reply (recommended), Endpoints, LocalEndpoints.  Cannot work: ClusterIP"));
}

TEST_F(Questions, doctor_names_the_IPRule_that_reports_speak_against) {
  kubectl({"apply", "-f", "-"}, rule("ClusterIP"));
  const auto unfit = ask({"doctor"});
  EXPECT_EQ(unfit.exit.code, 1) << unfit.errors;
  EXPECT_THAT(unfit.output, HasSubstr("IPRule/public-eu asks for ClusterIP, which no reply bears here  IPR0301\n"));
  EXPECT_THAT(unfit.output, HasSubstr("\n  kubectl patch iprule public-eu --type=merge"));
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto fit = ask({"doctor"});
  EXPECT_EQ(fit.exit.code, 0) << fit.output << fit.errors;
  EXPECT_THAT(fit.output, Not(HasSubstr("kubectl patch")));
}

TEST_F(Questions, a_kernel_that_cannot_be_asked_is_a_gap_and_the_report_is_shown) {
  const auto none = ask({"doctor", "--node", "worker-1"});
  EXPECT_EQ(none.exit.code, 3) << none.errors;
  EXPECT_THAT(none.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(none.output,
              HasSubstr("Not asked: the kernel of worker-1: there is no Agent object, so no agent runs there\n"));

  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: shop}
)");
  EXPECT_THAT(ask({"doctor", "--node", "worker-1"}).output,
              HasSubstr("Not asked: the kernel of worker-1: no agent runs there, by the pods of name space shop\n"));

  kubectl({"create", "serviceaccount", "default", "-n", "shop"});
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Pod
metadata: {name: iprule-agent-x, namespace: shop, labels: {app: iprule-agent}}
spec: {nodeName: worker-1, containers: [{name: agent, image: agent}]}
)");
  const auto no_kubelet = ask({"doctor", "--node", "worker-1"});
  EXPECT_EQ(no_kubelet.exit.code, 3) << no_kubelet.errors;
  EXPECT_THAT(no_kubelet.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(no_kubelet.output, HasSubstr("Not asked: the kernel of worker-1: "));

  kubectl({"create", "clusterrole", "reader", "--verb=get,list",
           "--resource=pods,nodes,services,endpointslices.discovery.k8s.io,iprules,ipruleconfigs,agents,nodestates"});
  kubectl({"create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"});
  const auto denied = ask({"doctor", "--node", "worker-1", "--as", "reader"});
  EXPECT_EQ(denied.exit.code, 3) << denied.errors;
  EXPECT_THAT(denied.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(denied.output, HasSubstr("Not asked: the kernel of worker-1: 403 Forbidden: "));
  EXPECT_THAT(denied.output, HasSubstr("pods/exec"));

  const auto packet =
      ask({"explain", "--from", "10.244.1.7", "--to", "198.18.7.9", "--node", "worker-1", "--as", "reader"});
  EXPECT_EQ(packet.exit.code, 3);
  EXPECT_THAT(packet.errors, HasSubstr("the kernel of worker-1: 403 Forbidden: "));
  kubectl({"delete", "-n", "shop", "pod/iprule-agent-x", "agent/agent", "--grace-period=0", "--force"});
}

TEST_F(Questions, before_anything_is_installed_the_API_tells_what_is_likely) {
  const auto unknown = ask({"doctor", "--preflight"});
  EXPECT_EQ(unknown.exit.code, 0) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("no kube-proxy and none of the networks that we know"));
  kubectl({"create", "configmap", "kube-proxy", "-n", "kube-system", "--from-literal=config.conf=mode: nftables"});
  const auto done = ask({"doctor", "--preflight"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("likely kube-proxy nftables (mode of ConfigMap kube-proxy)\n"));
  EXPECT_THAT(done.output, HasSubstr("Likely to work: Reply (recommended), Endpoints, LocalEndpoints."));
  EXPECT_THAT(done.output, HasSubstr("  ok  nodes          2\n"));
  kubectl({"delete", "configmap", "kube-proxy", "-n", "kube-system"});
}

}  // namespace
}  // namespace questions
