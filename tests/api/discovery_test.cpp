#include "kube/discovery.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "testbed/fault_proxy.h"

namespace api_test {
namespace {

using base::Fault;

const kube::Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions", false};
const kube::Resource kApiServices{"apiregistration.k8s.io", "v1", "apiservices", false};
const kube::Resource kThings{"found.example", "v1", "things", false};

class DiscoveryTest : public ApiTest {
 protected:
  DiscoveryTest() {
    client_->observe_calls([this](std::string_view, int code, base::Duration) { codes_.push_back(code); });
  }
  bool served(const kube::Resource& resource) { return must(discovery_.is_served(resource, soon())); }

  // One that was deleted is in the way for some moments.
  void create_things() {
    const std::string kind = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"things.found.example"},"spec":{"group":"found.example","scope":"Cluster",
      "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";
    ASSERT_TRUE(testbed::eventually("the kind is made", kBound,
                                    [&] { return client_->create(kCrds, "", kind, soon()).has_value(); }));
  }
  void remove_things() { ASSERT_OK(client_->remove(kCrds, {"", "things.found.example"}, {}, soon())); }

  std::vector<int> codes_;
  kube::Discovery discovery_{*client_};
};

TEST_F(DiscoveryTest, the_server_says_which_kinds_it_has) {
  EXPECT_TRUE(served(kConfigMaps));
  EXPECT_TRUE(served({"apps", "v1", "daemonsets", true}));
  EXPECT_FALSE(served({"apps", "v1", "spoons", true}));
  EXPECT_FALSE(served({"apps", "v9", "daemonsets", true}));
  EXPECT_FALSE(served({"nowhere.example", "v1", "things", true}));
}

TEST_F(DiscoveryTest, what_was_said_is_kept_and_only_asked_whether_it_still_holds) {
  EXPECT_TRUE(served({"apps", "v1", "daemonsets", true}));
  EXPECT_TRUE(testbed::eventually("no other test's kind comes or goes", kBound, [&] {
    codes_.clear();
    EXPECT_TRUE(served({"apps", "v1", "daemonsets", true}));
    EXPECT_TRUE(served({"batch", "v1", "jobs", true}));
    EXPECT_FALSE(served({"nowhere.example", "v1", "things", true}));
    return codes_ == std::vector{304, 304, 304, 200, 304};  // No is said twice, and by a server that is ready.
  }));
}

TEST_F(DiscoveryTest, a_kind_that_comes_goes_and_comes_again_is_noticed_each_time) {
  EXPECT_FALSE(served(kThings));
  create_things();
  EXPECT_TRUE(testbed::eventually("it is there", kBound, [&] { return served(kThings); }));
  remove_things();
  EXPECT_TRUE(testbed::eventually("it is not there", kBound, [&] { return !served(kThings); }));
  create_things();
  EXPECT_TRUE(testbed::eventually("it is there again", kBound, [&] { return served(kThings); }));
  remove_things();
}

// A kind whose own server is away is not a kind that is not there.
TEST_F(DiscoveryTest, of_what_the_server_does_not_know_itself_it_says_nothing) {
  ASSERT_OK(client_->create(kApiServices, "",
                            R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
      "metadata":{"name":"v1.away.example"},"spec":{"group":"away.example","version":"v1","groupPriorityMinimum":100,
      "versionPriority":100,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"nobody"}}})",
                            soon()));
  const kube::Resource away{"away.example", "v1", "things", true};
  EXPECT_TRUE(testbed::eventually("it is unsure", kBound, [&] {
    const auto answer = discovery_.is_served(away, soon());
    return !answer && answer.error().fault() == Fault::unavailable;
  }));
  EXPECT_TRUE(served({"apps", "v1", "daemonsets", true}));
  ASSERT_OK(client_->remove(kApiServices, {"", "v1.away.example"}, {}, soon()));
}

TEST_F(DiscoveryTest, a_server_without_the_one_document_is_asked_group_by_group) {
  const auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(config.server, must(config.tls()));
  const auto old = connect(proxy.kubeconfig());
  kube::Discovery discovery(*old);
  const auto old_answer = [&](const std::string& path) {
    const auto plain =
        client_->send({.method = "GET", .target = path, .headers = {{"accept", "application/json"}}}, soon());
    proxy.inject({.verb = "GET"}, testbed::fault::Answer{.status = 200, .body = must(plain).body});
  };
  old_answer("/apis");
  EXPECT_TRUE(must(discovery.is_served({"apps", "v1", "daemonsets", true}, soon())));
  old_answer("/apis");
  EXPECT_FALSE(must(discovery.is_served({"apps", "v1", "spoons", true}, soon())));
  old_answer("/apis");
  EXPECT_FALSE(must(discovery.is_served({"apps", "v9", "daemonsets", true}, soon())));
  old_answer("/api");
  EXPECT_TRUE(must(discovery.is_served(kConfigMaps, soon())));
}

// Custom kinds come to a server one by one while it starts.
TEST_F(DiscoveryTest, a_server_that_is_starting_does_not_say_no_to_what_it_has) {
  create_things();
  ASSERT_TRUE(testbed::eventually("it is there", kBound, [&] { return served(kThings); }));
  int no = 0;
  std::jthread asker([&](const std::stop_token& stop) {
    const auto client = admin();
    while (!stop.stop_requested()) no += kube::is_served(*client, kThings, soon()).value_or(true) ? 0 : 1;
  });
  for (int i = 0; i < 3; ++i) {
    cluster_.api_server().kill();
    ASSERT_OK(cluster_.api_server().restart());
    ASSERT_TRUE(testbed::eventually("it is there again", kBound,
                                    [&] { return discovery_.is_served(kThings, soon()).value_or(false); }));
  }
  asker.request_stop();
  asker.join();
  EXPECT_EQ(no, 0);
  remove_things();
}

TEST_F(DiscoveryTest, before_a_server_is_ready_its_no_is_no_answer) {
  const auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(config.server, must(config.tls()));
  const auto client = connect(proxy.kubeconfig());
  const kube::Resource spoons{"apps", "v1", "spoons", true};
  proxy.inject({.verb = "GET"}, testbed::fault::Answer{.status = 500, .body = "[-]poststarthook/crd-informer-synced"},
               {.skip = 1});
  const auto answer = kube::is_served(*client, spoons, soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), Fault::unavailable);
  EXPECT_THAT(answer.error().message(), testing::HasSubstr("ask whether the API server is ready"));
  EXPECT_FALSE(must(kube::is_served(*client, spoons, soon())));
}

TEST_F(DiscoveryTest, no_answer_is_no_word_on_it) {
  const auto nobody = connect(cluster_.kubeconfig(testbed::Credentials{.token = "wrong"}));
  EXPECT_EQ(kube::is_served(*nobody, kConfigMaps, soon()).error().fault(), Fault::denied);
}

}  // namespace
}  // namespace api_test
