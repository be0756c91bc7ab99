#include "http/routes.h"

#include <gtest/gtest.h>

namespace http {
namespace {

Request request(std::string method, std::string target) {
  return {.method = std::move(method), .target = std::move(target), .headers = {}, .body = {}};
}

Handler says(std::string text) {
  return [text = std::move(text)](const Request& request) { return plain_text(200, request.method + " " + text); };
}

TEST(Routes, the_query_is_no_part_of_the_path) {
  Routes routes;
  routes.add("/metrics", says("metrics"));
  EXPECT_EQ(routes.answer(request("GET", "/metrics?name=x")).body, "GET metrics");
  EXPECT_EQ(routes.answer(request("GET", "/metrics/")).status, 404);
  EXPECT_EQ(routes.answer(request("GET", "*")).status, 404);
  EXPECT_EQ(routes.answer(request("GET", "")).status, 404);
}

TEST(Routes, the_longest_path_wins) {
  Routes routes;
  routes.add("/", says("root")).add("/api/", says("api")).add("/api/health", says("health"));
  EXPECT_EQ(routes.answer(request("GET", "/")).body, "GET root");
  EXPECT_EQ(routes.answer(request("GET", "/a/b/c")).body, "GET root");
  EXPECT_EQ(routes.answer(request("GET", "/api/x/y")).body, "GET api");
  EXPECT_EQ(routes.answer(request("GET", "/api/health")).body, "GET health");
}

TEST(Routes, only_the_methods_asked_for_are_allowed) {
  Routes routes;
  routes.add("/read", says("read")).add("/write", says("write"), {"PUT"});
  EXPECT_EQ(routes.answer(request("HEAD", "/read")).body, "GET read");
  EXPECT_EQ(routes.answer(request("PUT", "/write")).body, "PUT write");
  const Response refused = routes.answer(request("POST", "/read"));
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(find(refused.headers, "allow"), "GET, HEAD");
  EXPECT_EQ(routes.answer(request("GET", "/write")).status, 405);
}

}  // namespace
}  // namespace http
