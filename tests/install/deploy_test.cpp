// make install, deploy, undeploy and uninstall, on a control plane of their own: what they leave behind matters.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Deploy : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = must(testbed::Cluster::start({.controller_manager = true})).release(); }
  static void TearDownTestSuite() { delete cluster_; }

  static testbed::Finished make(const std::vector<std::string>& words) {
    testbed::Command command{.arguments = {"make", "--no-print-directory", "-C", kSource.native()}};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.arguments.push_back("KUBECTL=" + cluster_->program().native() + " kubectl --kubeconfig " +
                                cluster_->admin_kubeconfig().native());
    return must(testbed::run(command, std::chrono::minutes(4)));
  }
  static void expect_made(const std::vector<std::string>& words) {
    const testbed::Finished done = make(words);
    EXPECT_TRUE(done.exit.ok()) << done.output << done.errors;
  }
  static std::string everything() {
    return must(cluster_->kubectl({"get",
                                   "namespaces,crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                                   "validatingadmissionpolicybindings",
                                   "-o", "name"}));
  }

  static inline testbed::Cluster* cluster_ = nullptr;
};

TEST_F(Deploy, what_is_deployed_is_gone_after_undeploy_and_what_people_wrote_after_uninstall) {
  const std::string before = everything();
  expect_made({"install"});
  must(cluster_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  must(cluster_->kubectl({"apply", "-f", (kSource / "examples/iprule-public.yaml").native()}));
  expect_made({"deploy", "IMG=registry.example/controller:1", "AGENT_IMG=registry.example/agent:1"});
  expect_made({"deploy"});
  must(cluster_->kubectl({"get", "--namespace=" + kNamespace, "deployment", kController}));

  expect_made({"undeploy"});
  EXPECT_THAT(everything(), Not(HasSubstr(kNamespace)));
  EXPECT_THAT(must(cluster_->kubectl({"get", "iprules"})), HasSubstr("public-eu"));
  EXPECT_FALSE(make({"undeploy"}).exit.ok());
  expect_made({"undeploy", "ignore-not-found=true"});

  expect_made({"uninstall"});
  EXPECT_EQ(everything(), before);
  expect_made({"uninstall", "ignore-not-found=true"});
}

TEST_F(Deploy, a_second_install_is_refused_while_another_leads) {
  must(cluster_->kubectl({"create", "namespace", "iprule-system"}));
  const auto lease = [&](const std::string& spec) {
    must(cluster_->kubectl({"apply", "-f", "-"},
                           "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
                           "metadata: {name: fed43742.brtrm.dev, namespace: iprule-system}\nspec: " +
                               spec));
  };
  lease("{holderIdentity: old-manager, renewTime: '2099-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");
  const testbed::Finished refused = make({"deploy"});
  EXPECT_FALSE(refused.exit.ok());
  EXPECT_THAT(refused.errors, HasSubstr("a controller leads already, in namespace iprule-system (old-manager)"));
  EXPECT_THAT(everything(), Not(HasSubstr(kNamespace)));

  lease("{holderIdentity: '', renewTime: '2099-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");  // Released.
  expect_made({"deploy"});
  lease("{holderIdentity: crashed, renewTime: '2020-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");
  expect_made({"deploy"});
  expect_made({"undeploy"});
}

}  // namespace
}  // namespace install_test
