#include "cli/drift_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr meta::Time kNow{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

meta::Condition condition(std::string type, bool holds, std::chrono::seconds ago) {
  return {.type = std::move(type),
          .status = holds ? meta::Truth::yes : meta::Truth::no,
          .last_transition = kNow - ago,
          .reason = "Because",
          .message = "words"};
}

api::NodeState report() {
  api::NodeState out;
  out.meta.name = "worker-2";
  out.status.drift = {{.object = "IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100",
                       .wanted = "present",
                       .found = "missing",
                       .likely = "systemd-networkd",
                       .repairs = 3,
                       .repaired = kNow - 10min,
                       .took_ms = 12},
                      {.object = "IPv4 rule 1000: from 10.96.23.17",
                       .wanted = "lookup 100",
                       .found = "lookup 200",
                       .likely = "proto static"}};
  return out;
}

std::string told(const api::NodeState& report, const Since& since = {}) {
  Page page;
  drift_listing(reported_drift(report, since, kNow), kNow).print(page, {});
  return page.render({});
}

TEST(DriftEntry, a_row_says_what_was_wanted_what_was_found_who_it_was_and_what_was_done) {
  EXPECT_EQ(
      told(report()),
      "NODE      OBJECT                                                   WANTED      FOUND       LIKELY            "
      "ACTION\n"
      "worker-2  IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100  present     missing     systemd-networkd  "
      "repaired in 12 ms, 3rd time\n"
      "worker-2  IPv4 rule 1000: from 10.96.23.17                         lookup 100  lookup 200  proto static      "
      "foreign, left alone  IPR0105\n");
}

TEST(DriftEntry, only_what_is_not_repaired_goes_on) {
  const auto entries = reported_drift(report(), {}, kNow);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_FALSE(entries[0].goes_on);
  EXPECT_TRUE(entries[1].goes_on);
}

TEST(DriftEntry, what_is_changed_again_and_again_has_its_code_and_a_row_of_its_own) {
  api::NodeState often = report();
  often.status.drift[0].repairs = 22;
  often.status.conditions = {condition("Drifting", true, 5min)};
  EXPECT_THAT(told(often), HasSubstr("our rules"));
  EXPECT_THAT(told(often), HasSubstr("repaired in 12 ms, 22nd time  IPR0314\n"));
  often.status.drift[0].repairs = 11;
  EXPECT_THAT(told(often), HasSubstr(", 11th time  IPR0314\n"));
  often.status.conditions = {condition("Drifting", false, 5min)};
  EXPECT_THAT(told(often), HasSubstr(", 11th time\n")) << "it was once";
}

TEST(DriftEntry, a_clash_that_is_told_in_detail_is_not_told_twice) {
  api::NodeState clashing = report();
  clashing.status.conditions = {condition("Clashing", true, 5min)};
  EXPECT_EQ(reported_drift(clashing, {}, kNow).size(), 2U);
  clashing.status.drift.pop_back();
  EXPECT_THAT(told(clashing), HasSubstr("another's beside one")) << "by an agent that tells no details";
}

TEST(DriftEntry, since_leaves_out_what_is_older) {
  api::NodeState old = report();
  old.status.conditions = {condition("Clashing", true, 2h), condition("Drifting", false, 30min)};
  const auto hour = reported_drift(old, 1h, kNow);
  ASSERT_EQ(hour.size(), 2U);
  EXPECT_EQ(hour[0].type, "Drifting") << "it ended within the hour";
  EXPECT_EQ(hour[0].action, "over");
  EXPECT_EQ(hour[1].type, "Repaired");
  EXPECT_THAT(reported_drift(old, 1min, kNow), IsEmpty());
  EXPECT_EQ(reported_drift(old, {}, kNow).size(), 2U) << "what is over needs somebody who asks for it";
}

TEST(DriftEntry, an_agent_on_its_own_tells_what_it_put_right) {
  agent::StandaloneStatus status;
  status.drift = report().status.drift;
  EXPECT_EQ(standalone_drift("router", status, {}, kNow).size(), 1U) << "the kernel shows what stands beside ours";
  EXPECT_THAT(standalone_drift("router", status, 1min, kNow), IsEmpty());
  status.drifting = true;
  const auto often = standalone_drift("router", status, {}, kNow);
  ASSERT_EQ(often.size(), 2U);
  EXPECT_TRUE(often[0].goes_on);
  EXPECT_THAT(often[0].action, HasSubstr("ManageForeignRoutingPolicyRules=no"));
}

TEST(DriftEntry, a_program_reads_the_same) {
  const auto entries = reported_drift(report(), {}, kNow);
  Listing listing = drift_listing(entries, kNow);
  EXPECT_TRUE(listing.sort("{.repairs}"));
  const std::string json = json::array([&](json::Array& out) { listing.put(out); });
  EXPECT_THAT(json,
              HasSubstr(R"("object":"IPv4 rule 1000: from 10.96.23.17","wanted":"lookup 100","found":"lookup 200",)"
                        R"("likely":"proto static","action":"foreign, left alone","code":"IPR0105"})"));
  EXPECT_THAT(json, HasSubstr(R"("since":"2025-12-31T23:50:00Z",)"));
}

}  // namespace
}  // namespace cli
