#include "agent/last_report.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kFirstReport(100s);

// The report as the watch shows it.
Findings seen(std::uint64_t version, std::string answered, const std::string& agent) {
  Findings out{.uid = "uid", .token = "t", .version = version};
  out.stored.token = std::move(answered);
  out.stored.version = agent;
  return out;
}

std::string held(const LastReport& last, const Findings& findings, base::TimePoint now = kFirstReport) {
  const auto* status = last.held(findings, now);
  return status != nullptr ? status->version : "nothing";
}

TEST(LastReport, what_is_stored_counts_if_it_answers_the_token) {
  EXPECT_EQ(held({}, seen(5, "t", "1.0")), "1.0");
  EXPECT_EQ(held({}, seen(5, "another", "1.0")), "nothing");
}

TEST(LastReport, what_was_just_written_counts_before_the_watch_brings_it) {
  LastReport last;
  last.wrote(seen(5, "", ""), {.token = "t", .version = "1.1"}, 6, kFirstReport);
  EXPECT_EQ(held(last, seen(5, "t", "1.0")), "1.1");
  EXPECT_EQ(held(last, seen(6, "t", "1.1"), kFirstReport + 1h), "1.1");
  EXPECT_EQ(held(last, seen(7, "t", "edited")), "edited");
}

TEST(LastReport, A8_what_the_server_has_lost_with_its_storage_is_written_again) {
  LastReport last;
  last.wrote(seen(5, "", ""), {.token = "t", .version = "1.1"}, 6, kFirstReport);
  EXPECT_EQ(held(last, seen(4, "t", "1.0"), kFirstReport + 1min), "1.0");
}

}  // namespace
}  // namespace agent
