#include "http/probe.h"

#include <gtest/gtest.h>

namespace http {
namespace {

TEST(Probe, says_the_agreed_word_or_every_reason) {
  std::optional<std::string> reason;
  runtime::Health health;
  health.add("loop", [&] { return reason; });
  Routes routes;
  routes.add("/health", probe(health, "ok"));
  const auto ask = [&](std::string target) {
    return routes.answer({.method = "GET", .target = std::move(target), .headers = {}, .body = {}});
  };
  EXPECT_EQ(ask("/health").status, 200);
  EXPECT_EQ(ask("/health").body, "ok");
  EXPECT_EQ(ask("/health?verbose").body, "[+]loop ok\nok");
  std::optional<std::string> remark = "a right is missing";
  health.add_remark("watches", [&] { return remark; });
  EXPECT_EQ(ask("/health").status, 200);
  EXPECT_EQ(ask("/health").body, "[!]watches: a right is missing\nok");
  EXPECT_EQ(ask("/health?verbose").body, "[+]loop ok\n[!]watches: a right is missing\nok");
  remark.reset();
  reason = "no progress for 121 s";
  EXPECT_EQ(ask("/health").status, 503);
  EXPECT_EQ(ask("/health").body, "[-]loop failed: no progress for 121 s\n");
}

}  // namespace
}  // namespace http
