#include "kube/pod_exec.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::string_literals;

TEST(PodStreams, are_told_apart_by_their_first_byte) {
  PodStreams streams;
  for (const std::string& message : {"\x01"s, "\x02"s, "\x01{\"a\":"s, "\x02oh "s, "\x01 1}"s, ""s, "\x02no"s}) {
    ASSERT_TRUE(streams.take(message));
  }
  EXPECT_FALSE(streams.outcome()) << "it still runs";
  ASSERT_TRUE(streams.take("\x03{\"metadata\":{},\"status\":\"Success\"}"));
  const auto outcome = streams.outcome();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->output, R"({"a": 1})");
  EXPECT_EQ((*outcome)->errors, "oh no");
  EXPECT_EQ((*outcome)->code, 0);
}

TEST(PodStreams, a_program_that_failed_has_its_code) {
  PodStreams streams;
  ASSERT_TRUE(
      streams.take("\x03{\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit code\",\"reason\":"
                   "\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"3\"}]}}"));
  const auto outcome = streams.outcome();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->code, 3);
}

TEST(PodStreams, what_could_not_be_run_is_an_error_in_the_servers_words) {
  PodStreams streams;
  ASSERT_TRUE(streams.take(
      "\x03{\"status\":\"Failure\",\"message\":\"container not found\",\"reason\":\"InternalError\",\"code\":500}"));
  const auto outcome = streams.outcome();
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(*outcome);
  EXPECT_EQ(outcome->error().message(), "500 InternalError: container not found");
}

TEST(PodStreams, what_has_no_end_is_given_up) {
  PodStreams streams(10);
  EXPECT_TRUE(streams.take("\x01"s + "0123456789"));
  EXPECT_FALSE(streams.take("\x02"s + "x"));
}

TEST(PodStreams, a_last_word_that_cannot_be_read_is_an_error) {
  PodStreams streams;
  ASSERT_TRUE(streams.take("\x03gone"s));
  const auto outcome = streams.outcome();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(*outcome);
}

}  // namespace
}  // namespace kube
