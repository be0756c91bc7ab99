// A cluster whose storage is restored from a backup, as its followers see it.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "watcher.h"

namespace api_test {
namespace {

// The watch was at a version that the restored storage has yet to reach: resumed there, it would be served in silence
// for minutes. The cluster is this test's own, for others would not bear its past.
TEST(RestoredStorage, A8_a_cluster_restored_from_a_backup_is_shown_as_it_is_now) {
  constexpr int kLost = 200;  // More than a server writes by itself when it starts.
  const auto cluster = must(testbed::Cluster::start());
  const auto client = connect(cluster->admin_kubeconfig());
  const auto put = [&](const std::string& value) {
    return client->patch(kConfigMaps, {"default", "a"}, kube::PatchType::apply, config_map("a", value), soon());
  };
  ASSERT_OK(put("saved"));
  ASSERT_OK(cluster->save_storage());
  Watcher watcher(*client, "default");
  EXPECT_TRUE(watcher.sees({{"a", "saved"}}));
  for (int i = 0; i < kLost; ++i) ASSERT_OK(put(std::to_string(i)));
  EXPECT_TRUE(watcher.sees({{"a", std::to_string(kLost - 1)}}));
  ASSERT_OK(cluster->restore_storage());
  EXPECT_TRUE(watcher.sees({{"a", "saved"}}));
}

// Two kinds are followed. A namespace is made after the backup, and then one object is changed many times: of the two
// versions that are known, that of the namespaces is the first which the restored storage reaches again.
class TwoKindsOfRestoredStorage : public testing::Test {
 protected:
  static constexpr int kLost = 200;

  void SetUp() override {
    put_until(1);
    ASSERT_OK(cluster_->save_storage());
    ASSERT_OK(admin_->create(kNamespaces, "", R"({"metadata":{"name":"lost"}})", soon()));
    put_until(kLost);
    ASSERT_TRUE(objects_.sees({{"a", std::to_string(kLost)}}));
    ASSERT_TRUE(testbed::eventually("it is shown", kBound, [&] { return shows_lost(); }));
  }

  void put_until(int last) {
    for (int i = 1; i <= last; ++i) {
      ASSERT_OK(admin_->patch(kConfigMaps, {"default", "a"}, kube::PatchType::apply, config_map("a", std::to_string(i)),
                              soon()));
    }
  }
  void hold(const std::string& resource) {
    proxy_.inject({.resource = resource}, testbed::fault::Hold{}, {.count = testbed::FaultProxy::kAlways});
  }
  void let_go() {
    proxy_.heal();
    proxy_.release();
  }
  bool shows_lost() const { return namespaces_.latest()->find({.ns = "", .name = "lost"}) != nullptr; }
  testing::AssertionResult lost_is_gone() {
    return testbed::eventually("what was made after the backup is gone", kBound, [&] { return !shows_lost(); });
  }

  const kube::Resource kNamespaces{"", "v1", "namespaces", false};
  std::unique_ptr<testbed::Cluster> cluster_ = must(testbed::Cluster::start());
  kube::Config config_ = must(kube::from_kubeconfig({cluster_->admin_kubeconfig()}, ""));
  std::unique_ptr<kube::Client> admin_ = connect(cluster_->admin_kubeconfig());
  testbed::FaultProxy proxy_{config_.server, must(config_.tls())};
  std::unique_ptr<kube::Client> client_ = connect(proxy_.kubeconfig());
  runtime::Signal changed_;
  Watcher objects_{*client_, "default"};
  kube::Reflector<std::string> namespaces_{*client_, kNamespaces, decode, changed_};
};

TEST_F(TwoKindsOfRestoredStorage, A8_the_kind_that_asks_too_late_to_notice_heeds_the_other) {
  hold("namespaces");
  ASSERT_OK(cluster_->restore_storage());
  EXPECT_TRUE(objects_.sees({{"a", "1"}}));
  put_until(kLost * 2);
  let_go();
  EXPECT_TRUE(lost_is_gone());
}

TEST_F(TwoKindsOfRestoredStorage, A8_a_watch_that_went_on_unawares_is_ended_when_the_other_kind_notices) {
  hold("configmaps");
  ASSERT_OK(cluster_->restore_storage());
  put_until(5);
  ASSERT_TRUE(testbed::eventually("it has been cut and goes on", kBound, [&] {
    const auto view = namespaces_.latest();
    return view->failures > 0 && !view->trouble;
  }));
  EXPECT_TRUE(shows_lost());
  let_go();
  EXPECT_TRUE(lost_is_gone());
  EXPECT_TRUE(objects_.sees({{"a", "5"}}));
}

}  // namespace
}  // namespace api_test
