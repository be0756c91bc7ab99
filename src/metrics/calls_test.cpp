#include "metrics/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace metrics {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Calls, are_counted_by_code_host_and_method_and_a_call_without_an_answer_is_an_error) {
  Registry registry;
  const CallObserver note = count_calls(registry, "10.0.0.1:6443");
  note("GET", 200, 10ms);
  note("GET", 200, 20ms);
  note("PATCH", 0, 1s);
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="200",host="10.0.0.1:6443",method="GET"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="<error>",host="10.0.0.1:6443",method="PATCH"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_request_duration_seconds_count{host="10.0.0.1:6443",verb="GET"} 2)"));
}

}  // namespace
}  // namespace metrics
