#include "kube/authorize.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "http/scripted_server_test.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kStart(1h);

TEST(VerdictCache, remembers_for_a_minute) {
  VerdictCache cache;
  EXPECT_FALSE(cache.find("a", kStart));
  cache.put("a", Verdict::allowed, kStart);
  EXPECT_EQ(cache.find("a", kStart + 59s), Verdict::allowed);
  EXPECT_FALSE(cache.find("a", kStart + 60s));
  cache.put("a", Verdict::forbidden, kStart + 60s);
  EXPECT_EQ(cache.find("a", kStart + 61s), Verdict::forbidden);
}

TEST(VerdictCache, never_holds_more_than_its_number) {
  VerdictCache cache(1min, 3);
  cache.put("old", Verdict::allowed, kStart);
  cache.put("b", Verdict::allowed, kStart + 30s);
  cache.put("c", Verdict::allowed, kStart + 30s);
  cache.put("d", Verdict::allowed, kStart + 61s);  // The old one makes room.
  EXPECT_TRUE(cache.find("b", kStart + 61s));
  cache.put("e", Verdict::allowed, kStart + 61s);  // Nobody is old: all go.
  EXPECT_FALSE(cache.find("b", kStart + 61s));
  EXPECT_TRUE(cache.find("e", kStart + 61s));
}

TEST(AuthorizerTest, once_it_has_ended_nobody_waits_for_an_api_server_that_is_silent) {
  std::promise<void> asked;
  std::atomic<int> questions = 0;
  http::ScriptedServer silent([&](http::ScriptedServer&, const http::ScriptedServer::Call&) {
    if (++questions == 1) asked.set_value();
  });
  Config config;
  config.server = silent.url();
  config.ca.data = silent.trust().ca;
  const auto client = Client::connect(config);
  ASSERT_TRUE(client) << client.error().message();
  Authorizer authorizer(**client);
  const auto metrics = authorizer.protect([](const http::Request&) { return http::plain_text(200, "data"); });
  const auto status = [&] { return metrics({.headers = {{"authorization", "Bearer x"}}, .body = {}}).status; };
  auto waiting = std::async(std::launch::async, status);
  asked.get_future().wait();
  authorizer.end();
  EXPECT_EQ(waiting.get(), 503);
  EXPECT_EQ(status(), 503);
  EXPECT_EQ(questions, 1) << "who comes later is not even asked about";
}

}  // namespace
}  // namespace kube
