#include "agent/reporter.h"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "agent/resources.h"
#include "http/scripted_server_test.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// Bulk writes have taken every turn for the next hour.
TEST(Reporter, a_report_is_written_whatever_else_its_client_has_to_do) {
  std::promise<void> reported;
  http::ScriptedServer server([&](http::ScriptedServer& self, const http::ScriptedServer::Call& call) {
    self.answer(call, 200, R"({"metadata":{"resourceVersion":"6"}})");
    if (call.request.method == "PATCH") reported.set_value();
  });
  kube::Config config;
  config.server = server.url();
  config.ca.data = server.trust().ca;
  const auto client = kube::Client::connect(config, {}, {.rate = 1.0 / 3600, .burst = 1});
  ASSERT_TRUE(client) << client.error().message();
  const kube::Key worker{"", "worker"};
  ASSERT_TRUE((*client)->get(nodes(), worker, kube::within(20s)));
  ASSERT_EQ((*client)->get(nodes(), worker, kube::within(20s)).error().fault(), base::Fault::timeout);

  Reporter reporter(**client, worker.name);
  reporter.note({.uid = "uid", .token = "t", .version = 5});
  EXPECT_EQ(reported.get_future().wait_for(20s), std::future_status::ready);
}

}  // namespace
}  // namespace agent
