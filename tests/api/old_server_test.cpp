#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api.h"
#include "base/file.h"
#include "kube/reflector.h"
#include "testbed/process.h"

// A server as they were before streaming lists and HTTP/2, and with room for very few requests at a time.
namespace api_test {
namespace {

testbed::Cluster& old_cluster() {
  static const std::unique_ptr<testbed::Cluster> cluster = must(
      testbed::Cluster::start({.api_server_flags = {"--feature-gates=WatchList=false",
                                                    "--enable-priority-and-fairness=false", "--max-requests-inflight=3",
                                                    "--max-mutating-requests-inflight=1", "--disable-http2-serving"}}));
  return *cluster;
}

std::string audit_log() {
  return must(base::read_file(old_cluster().audit_log(), std::size_t{1} << 30U));
}

bool was_asked_for_pages() {
  const std::string log = audit_log();
  return log.contains("/api/v1/configmaps?limit=1000&resourceVersion") ||
         log.contains("/api/v1/configmaps?limit=1000\"");
}

// Somebody who may do everything, but is not of system:masters, for whom there is always room.
std::unique_ptr<kube::Client> writer() {
  const auto admin = connect(old_cluster().admin_kubeconfig());
  must(admin->create({"rbac.authorization.k8s.io", "v1", "clusterrolebindings", false}, "",
                     R"({"metadata":{"name":"writer"},"subjects":[{"kind":"User","name":"writer"}],
                         "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}})",
                     soon()));
  return connect(old_cluster().kubeconfig(old_cluster().user("writer")));
}

TEST(OldServer, a_busy_server_delays_writes_and_loses_none) {
  const auto client = writer();
  constexpr int kThreads = 6;
  constexpr int kEach = 8;
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < kThreads; ++t) {
      writers.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string name = fmt::format("m-{}-{}", t, i);
          const auto answer = client->create(kConfigMaps, "default", config_map(name, "x"), kube::within(60s));
          if (answer) ++done;
        }
      });
    }
  }
  EXPECT_EQ(done, kThreads * kEach);
  const auto metrics = client->send({.method = "GET", .target = "/metrics"}, soon());
  ASSERT_OK(metrics);
  EXPECT_TRUE(metrics->body.contains(R"(apiserver_request_terminations_total{code="429")")) << "it was never busy";
}

TEST(OldServer, where_lists_cannot_be_streamed_they_come_in_pages) {
  const auto client = connect(old_cluster().admin_kubeconfig());
  for (int i = 0; i < 1100; ++i) {
    const std::string name = fmt::format("page-{}", i);
    ASSERT_OK(client->patch(kConfigMaps, {"default", name}, kube::PatchType::apply, config_map(name, "x"), soon()));
  }
  runtime::Signal changed;
  kube::Reflector<std::string> reflector(*client, kConfigMaps, decode_value, changed);
  while (!reflector.latest()->complete) ASSERT_TRUE(changed.wait({}, base::SteadyClock().now() + kBound));
  EXPECT_GE(reflector.latest()->objects.size(), 1100U);
  EXPECT_TRUE(testbed::eventually("pages in the audit log", kBound, was_asked_for_pages));

  ASSERT_OK(
      client->patch(kConfigMaps, {"default", "page-0"}, kube::PatchType::apply, config_map("page-0", "y"), soon()));
  while (reflector.latest()->find({"default", "page-0"})->value != "y") {
    ASSERT_TRUE(changed.wait({}, base::SteadyClock().now() + kBound));
  }
  reflector.list_again();  // This one is asked for as a stream first.
  EXPECT_TRUE(testbed::eventually("the second list", kBound, [&] { return reflector.latest()->lists == 2; }));
}

// `kubectl proxy`: plain HTTP/1.1, and the credentials are its own.
TEST(OldServer, a_plain_proxy_before_it_is_good_enough) {
  const std::uint16_t port = testbed::free_port();
  auto proxy = must(testbed::Process::start(
      {.arguments = {old_cluster().program(), "kubectl", "--kubeconfig", old_cluster().admin_kubeconfig(), "proxy",
                     fmt::format("--port={}", port)}}));
  ASSERT_TRUE(testbed::eventually("the proxy listens", kBound, [&] {
    return proxy.output().contains("Starting to serve");
  })) << proxy.errors();
  kube::Config config;
  config.server = must(http::Url::parse(fmt::format("http://127.0.0.1:{}", port)));
  const auto client = must(kube::Client::connect(config, {}, {.rate = 1000, .burst = 1000}));
  runtime::Signal changed;
  kube::Reflector<std::string> reflector(*client, kConfigMaps, decode_value, changed);
  for (const char* value : {"one", "two"}) {
    ASSERT_OK(
        client->patch(kConfigMaps, {"default", "plain"}, kube::PatchType::apply, config_map("plain", value), soon()));
    EXPECT_TRUE(testbed::eventually("the change is seen", kBound, [&] {
      const auto view = reflector.latest();
      const auto* const object = view->find({"default", "plain"});
      return object != nullptr && object->value == value;
    }));
  }
}

}  // namespace
}  // namespace api_test
