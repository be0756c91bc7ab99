#include "kube/error.h"

#include <gtest/gtest.h>

#include "kube/message_test.h"

namespace kube {
namespace {

using base::Fault;

http::Response answer(int status, std::string body, http::Headers headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

TEST(Error, a_status_keeps_reason_and_causes) {
  const Error error = error_of(answer(422, R"({
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid",
    "message": "Service \"x\" is invalid",
    "details": {"causes": [{"reason": "FieldValueInvalid", "message": "must be > 0", "field": "spec.ports[0].port"}]}})"));
  EXPECT_EQ(error.fault(), Fault::invalid);
  EXPECT_EQ(error.message(), "422 Invalid: Service \"x\" is invalid");
  ASSERT_TRUE(error.status);
  ASSERT_EQ(error.status->causes.size(), 1U);
  EXPECT_EQ(error.status->causes[0].field, "spec.ports[0].port");
  EXPECT_TRUE(error.status->has_cause("FieldValueInvalid"));
}

TEST(Error, a_status_that_is_a_message_says_the_same) {
  json::WrittenMessage details;
  details.message(4, json::WrittenMessage().text(1, "FieldValueInvalid").text(2, "must be > 0").text(3, "spec.port"));
  json::WrittenMessage status;
  status.text(2, "Failure").text(3, "it is busy").text(4, "Invalid").message(5, details.number(5, 3)).number(6, 422);
  const Error error = error_of(answer(422, enveloped("Status", status)));
  EXPECT_EQ(error.message(), "422 Invalid: it is busy");
  ASSERT_TRUE(error.status);
  ASSERT_EQ(error.status->causes.size(), 1U);
  EXPECT_EQ(error.status->causes[0].reason, "FieldValueInvalid");
  EXPECT_EQ(error.status->causes[0].message, "must be > 0");
  EXPECT_EQ(error.status->causes[0].field, "spec.port");
  EXPECT_EQ(error.status->retry_after, std::chrono::seconds(3));
  EXPECT_EQ(error_of(answer(500, enveloped("Service", status))).message().substr(0, 3), "500");
}

TEST(Error, each_code_says_what_the_caller_can_do) {
  const std::pair<int, Fault> table[] = {
      {400, Fault::invalid},     {401, Fault::denied},      {403, Fault::denied},  {404, Fault::absent},
      {409, Fault::conflict},    {410, Fault::expired},     {422, Fault::invalid}, {429, Fault::unavailable},
      {500, Fault::unavailable}, {503, Fault::unavailable}, {504, Fault::timeout},
  };
  for (const auto& [code, fault] : table) EXPECT_EQ(error_of(answer(code, "")).fault(), fault) << code;
}

TEST(Error, when_to_come_back_is_read_from_body_or_header) {
  EXPECT_EQ(error_of(answer(429, R"({"kind":"Status","details":{"retryAfterSeconds":3}})")).status->retry_after,
            std::chrono::seconds(3));
  EXPECT_EQ(error_of(answer(503, "", {{"retry-after", "7"}})).status->retry_after, std::chrono::seconds(7));
  EXPECT_EQ(error_of(answer(503, "", {{"retry-after", "99999999"}})).status->retry_after, std::chrono::seconds(600));
  EXPECT_FALSE(error_of(answer(503, "", {{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"}})).status->retry_after);
}

TEST(Error, a_page_that_is_no_status_is_quoted_in_part_on_one_line) {
  const Error error = error_of(answer(502, "<html>\nBad\x01 gateway" + std::string(1000, 'x')));
  EXPECT_EQ(error.message().substr(0, 25), "502 <html> Bad  gatewayxx");
  EXPECT_LT(error.message().size(), 300U);
}

base::Result<int> plain() {
  const auto fails = []() -> Result<int> { return std::unexpected(error_of(ServerStatus{.code = 404})); };
  return TRY(fails());
}

TEST(Error, it_turns_into_a_plain_one_where_nobody_asks) {
  EXPECT_EQ(plain().error().fault(), Fault::absent);
}

}  // namespace
}  // namespace kube
