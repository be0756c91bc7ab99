// What goes with its owner, its kind or its name space, by the real garbage collector and the server's own cascades.
#include <gmock/gmock.h>

#include "at_work.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Cascade : public AtWork {
 protected:
  void SetUp() override {
    AtWork::SetUp();
    worker_ = &add_worker("worker-1");
    put_rule("kept", "198.51.100.0/24", 101);
    kept_ = put_service("kept", "198.51.100.1");
    ASSERT_TRUE(appears(*worker_, kept_, 101));
  }
  void TearDown() override {
    install::apply();
    AtWork::TearDown();
  }

  static std::string crd(const std::string& plural) { return plural + ".api.operator.brtrm.dev"; }
  static void delete_kind(const std::string& plural) { kubectl({"delete", "crd", crd(plural), "--timeout=60s"}); }
  testing::AssertionResult agent_misses(const std::string& plural) {
    return eventually("the agent finds no " + plural, kBound,
                      [&] { return worker_->agent->output().contains(R"("resource":")" + plural); });
  }

  Worker* worker_ = nullptr;
  std::string kept_;
};

TEST_F(Cascade, B7_objects_of_a_deleted_rule_go_whichever_way_and_their_rules_follow) {
  const testbed::Process& changes = watch_rules(*worker_);
  const std::string uid = kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[0].metadata.uid}"});
  for (const std::string cascade : {"background", "foreground", "orphan"}) {
    put_rule("going", "203.0.113.0/24", 100);
    const std::string going = put_service("going", "203.0.113.1");
    ASSERT_TRUE(appears(*worker_, going)) << cascade;
    kubectl({"delete", "iprule", "going", "--cascade=" + cascade, "--timeout=60s"});
    EXPECT_TRUE(goes(*worker_, going)) << cascade;
    EXPECT_TRUE(eventually("its object is gone", kBound, [&] { return published() == kept_; })) << cascade;
    delete_service("going");
  }
  // Without the controller there is nobody but the collector to remove the object, and the agent to find out.
  put_rule("going", "203.0.113.0/24", 100);
  const std::string going = put_service("going", "203.0.113.1");
  ASSERT_TRUE(appears(*worker_, going));
  controller_->process.kill();
  kubectl({"delete", "iprule", "going", "--cascade=foreground", "--timeout=60s"});
  EXPECT_TRUE(goes(*worker_, going));
  EXPECT_EQ(published(), kept_);

  EXPECT_EQ(kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[0].metadata.uid}"}), uid);
  EXPECT_TRUE(has(*worker_, kept_, 101));
  EXPECT_THAT(changes.output(), Not(HasSubstr(kept_))) << "the other rule's was let be";
}

// The server deletes the objects of a kind before it forgets the kind. That they are gone is its word; that the kind
// is missing is none.
TEST_F(Cascade, B8_published_objects_go_with_their_kind_and_come_back_with_it) {
  delete_kind("ipruleconfigs");
  EXPECT_TRUE(goes(*worker_, kept_));
  install::apply();
  EXPECT_TRUE(appears(*worker_, kept_, 101, kRecovery));

  worker_->agent->kill();
  delete_kind("ipruleconfigs");
  start_agent(*worker_);
  ASSERT_TRUE(agent_misses("ipruleconfigs"));
  EXPECT_TRUE(has(*worker_, kept_, 101)) << "an agent that finds no such kind knows nothing";
  install::apply();
  EXPECT_TRUE(eventually("published again", kRecovery, [&] { return published() == kept_; }));
  EXPECT_TRUE(appears(*worker_, kept_, 101, kRecovery));
  const std::string other = put_service("other", "198.51.100.2");
  EXPECT_TRUE(appears(*worker_, other, 101, kRecovery));
}

TEST_F(Cascade, B8_a_missing_kind_agent_removes_nothing_by_itself_and_everything_with_a_stop) {
  delete_kind("agents");
  ASSERT_TRUE(agent_misses("agents"));
  ip(*worker_, {"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(appears(*worker_, kept_, 101)) << "it goes on";
  install::apply();
  create_agent();
  const std::string other = put_service("other", "198.51.100.2");
  EXPECT_TRUE(appears(*worker_, other, 101, kRecovery));
  EXPECT_TRUE(has(*worker_, kept_, 101));

  // Who starts then has never seen an Agent go; that the server no longer has the kind is enough of an order.
  delete_kind("agents");
  worker_->agent->kill();
  start_container(*worker_);
  ASSERT_TRUE(agent_misses("agents"));
  EXPECT_TRUE(has(*worker_, kept_, 101));
  stop_agent(*worker_);
  EXPECT_THAT(rules(*worker_), Not(HasSubstr("proto 183")));
}

// A server deletes the pods of a name space first, and the Agent only when they have ended: they are told to stop while
// nothing says that the rules are not wanted any more.
TEST_F(Cascade, B8_a_deleted_name_space_is_no_order_and_the_next_install_goes_on_with_the_rules) {
  const auto& changes = watch_rules(*worker_);
  const std::string before = changes.output();
  kubectl({"delete", "namespace", kNamespace, "--wait=false"});
  ASSERT_TRUE(eventually("the pod is told to end", kBound, [&] {
    return !kubectl({"get", "pods", "-n", kNamespace, "-l", "app=iprule-agent", "-o",
                     "jsonpath={.items[*].metadata.deletionTimestamp}"})
                .empty();
  }));
  stop_agent(*worker_);
  ASSERT_TRUE(eventually("the name space is gone", kBound, [&] {
    kubectl({"delete", "pods", "--all", "-n", kNamespace, "--force", "--grace-period=0"});  // No kubelet ends them.
    return kubectl({"get", "namespace", kNamespace, "--ignore-not-found", "-o", "name"}).empty();
  }));
  install::apply();
  start_controller();  // The account of the former one is gone.
  create_agent();
  start_agent(*worker_);
  const std::string other = put_service("other", "198.51.100.2");
  EXPECT_TRUE(appears(*worker_, other, 101, kRecovery));
  EXPECT_TRUE(has(*worker_, kept_, 101));
  EXPECT_THAT(changes.output().substr(before.size()), Not(HasSubstr(kept_)));
}

}  // namespace
}  // namespace cluster_test
