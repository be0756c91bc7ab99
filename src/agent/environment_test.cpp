#include "agent/environment.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Environment read(const std::map<std::string, std::string>& variables) {
  return Environment::read([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

TEST(Environment, nothing_set_is_the_default_and_no_complaint) {
  const Environment out = read({});
  EXPECT_EQ(out.reconcile_period, 10s);
  EXPECT_EQ(out.metrics->port, 9090);
  EXPECT_EQ(out.rule_protocol, 183);
  EXPECT_EQ(out.default_priority, 32765U);
  EXPECT_THAT(out.complaints, IsEmpty());
}

TEST(Environment, what_is_set_counts) {
  const Environment out = read({{"RECONCILE_PERIOD", "1m30s"},
                                {"METRICS_ADDR", "127.0.0.1:9191"},
                                {"RULE_PROTOCOL", "200"},
                                {"DEFAULT_PRIORITY", "31000"},
                                {"LOG_LEVEL", "debug"},
                                {"POD_NAMESPACE", "home"}});
  EXPECT_EQ(out.reconcile_period, 90s);
  EXPECT_EQ(out.metrics->port, 9191);
  EXPECT_EQ(out.rule_protocol, 200);
  EXPECT_EQ(out.default_priority, 31000U);
  EXPECT_EQ(out.log_level, base::log::Level::debug);
  EXPECT_EQ(out.pod_namespace, "home");
  EXPECT_THAT(out.complaints, IsEmpty());
}

TEST(Environment, D31_a_period_of_zero_is_a_second_and_a_typing_error_is_told) {
  const Environment zero = read({{"RECONCILE_PERIOD", "0s"}});
  EXPECT_EQ(zero.reconcile_period, 1s);
  EXPECT_THAT(zero.complaints, ElementsAre(R"(RECONCILE_PERIOD: "0s" is not 1s or more; 1s counts)"));
  const Environment typo = read({{"RECONCILE_PERIOD", "10"}});
  EXPECT_EQ(typo.reconcile_period, 10s);
  EXPECT_THAT(typo.complaints, ElementsAre(HasSubstr("\"10\" is not a duration")));
}

TEST(Environment, an_empty_metrics_address_is_none_at_all) {
  EXPECT_FALSE(read({{"METRICS_ADDR", ""}}).metrics);
  EXPECT_FALSE(read({{"METRICS_ADDR", "0"}}).metrics);
  const Environment wrong = read({{"METRICS_ADDR", "9090"}});
  EXPECT_EQ(wrong.metrics->port, 9090);
  EXPECT_THAT(wrong.complaints, ElementsAre(HasSubstr("METRICS_ADDR")));
}

TEST(Environment, a_protocol_of_others_is_refused) {
  for (const char* text : {"0", "2", "4", "256", "ours", "-1"}) {
    const Environment out = read({{"RULE_PROTOCOL", text}});
    EXPECT_EQ(out.rule_protocol, 183) << text;
    EXPECT_EQ(out.complaints.size(), 1U) << text;
  }
}

TEST(Environment, priority_0_is_no_priority) {
  EXPECT_EQ(read({{"DEFAULT_PRIORITY", "0"}}).default_priority, 32765U);
  EXPECT_EQ(read({{"LOG_LEVEL", "loud"}}).complaints.size(), 1U);
}

}  // namespace
}  // namespace agent
