#include "agent/repair_log.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr meta::Time kRepairedAt{std::chrono::seconds(1'800'000'000)};

state::Rule read_rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

Repairs putting_back(std::initializer_list<const char*> rules, std::size_t wanted) {
  Repairs out{.rules_wanted = wanted, .took = 12ms, .at = kRepairedAt};
  for (const char* text : rules) {
    const plan::Op op = plan::AddRule{.rule = read_rule(text)};
    out.add(op, plan::text(op));
  }
  return out;
}

TEST(RepairLog, says_what_was_wanted_what_was_found_and_how_often_it_was_put_right) {
  RepairLog log;
  const auto one = putting_back({"1000: from 10.96.23.17 lookup 100 proto 183"}, 5);
  log.note(one);
  log.note(one);
  log.note(one);
  ASSERT_THAT(log.latest(), SizeIs(1));
  EXPECT_EQ(log.latest()[0], (api::NodeState::Drifted{.object = "IPv4 rule 1000: from 10.96.23.17 lookup 100",
                                                      .wanted = "present",
                                                      .found = "missing",
                                                      .likely = "",
                                                      .repairs = 3,
                                                      .repaired = kRepairedAt,
                                                      .took_ms = 12}));
  Repairs again = one;
  again.often = true;
  log.note(again);
  EXPECT_EQ(log.latest()[0].likely, "systemd-networkd");
  log.note(one);
  EXPECT_EQ(log.latest()[0].likely, "systemd-networkd") << "what was once known is not forgotten";
}

TEST(RepairLog, a_copy_with_our_number_is_one_that_nobody_wants) {
  Repairs repairs;
  const plan::Op op = plan::RemoveRule{.rule = read_rule("1000: from 10.96.23.99 lookup 100 proto 183")};
  repairs.add(op, plan::text(op));
  RepairLog log;
  log.note(repairs);
  EXPECT_EQ(log.latest()[0].wanted, "absent");
  EXPECT_EQ(log.latest()[0].found, "present");
}

TEST(RepairLog, who_removes_all_is_likely_another_than_who_removes_one) {
  RepairLog log;
  log.note(putting_back({"1000: from 10.0.0.1 lookup 100 proto 183", "1000: from 10.0.0.2 lookup 100 proto 183"}, 2));
  EXPECT_EQ(log.latest()[0].likely, "ip rule flush");
  log.note(putting_back({"1000: from 10.0.0.3 lookup 100 proto 183"}, 1));
  EXPECT_EQ(log.latest()[0].likely, "") << "of one rule nobody can tell";
  Repairs marks;
  marks.add(plan::ChangeNft{}, "create table inet iprule\nput element vip4 203.0.113.45 : goto reply01");
  log.note(marks);
  EXPECT_EQ(log.latest()[0].object, "element vip4 203.0.113.45 : goto reply01");
  EXPECT_EQ(log.latest()[0].likely, "nft flush ruleset");
}

TEST(RepairLog, is_bounded_and_a_storm_is_one_line) {
  RepairLog log;
  for (int i = 0; i < 50; ++i) {
    log.note(putting_back({("1000: from 10.0.0." + std::to_string(i) + " lookup 100 proto 183").c_str()}, 100));
  }
  EXPECT_THAT(log.latest(), SizeIs(RepairLog::kMost));
  EXPECT_EQ(log.latest()[0].object, "IPv4 rule 1000: from 10.0.0.49 lookup 100") << "the latest first";
  Repairs storm{.rules_wanted = 5000};
  for (int i = 0; i < 5000; ++i) {
    const plan::Op op = plan::AddRule{.rule = read_rule("1000: from 10.1.2.3 lookup 100 proto 183")};
    storm.add(op, plan::text(op));
  }
  EXPECT_THAT(storm.changes, SizeIs(RepairLog::kMost));
  log.note(storm);
  EXPECT_EQ(log.latest()[0].object, "many rules");
  EXPECT_EQ(log.latest()[0].found, "5000 missing or changed");
  EXPECT_EQ(log.latest()[0].likely, "ip rule flush");
}

TEST(RepairLog, however_fast_two_programs_fight_the_server_hears_of_it_once_a_minute) {
  RepairLog log;
  base::TimePoint now{};
  EXPECT_THAT(log.told(now), IsEmpty());
  const auto one = putting_back({"1000: from 10.96.23.17 lookup 100 proto 183"}, 5);
  log.note(one);
  EXPECT_THAT(log.told(now), SizeIs(1)) << "the first at once";
  int lists = 0;
  auto last = log.told(now);
  for (int second = 0; second < 600; ++second) {
    log.note(one);
    const auto told = log.told(now += 1s);
    lists += told != last ? 1 : 0;
    last = told;
  }
  EXPECT_EQ(lists, 10);
  EXPECT_EQ(log.told(now + 1min).front().repairs, 601) << "and in the end it is true";
}

TEST(RepairLog, a_rule_beside_ours_is_left_alone) {
  const auto told = drift_beside_ours({{.desired = read_rule("1000: from 10.96.23.17 lookup 100 proto 183"),
                                        .foreign = read_rule("1000: from 10.96.23.17 lookup 200 proto static")},
                                       {.desired = read_rule("1000: from 10.96.23.18 lookup 100 proto 183"),
                                        .foreign = read_rule("1000: from 10.96.23.18 blackhole")}});
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0], (api::NodeState::Drifted{.object = "IPv4 rule 1000: from 10.96.23.17",
                                              .wanted = "lookup 100",
                                              .found = "lookup 200",
                                              .likely = "proto static"}));
  EXPECT_EQ(told[1].found, "IPv4 rule 1000: from 10.96.23.18 blackhole");
  EXPECT_THAT(drift_beside_ours(
                  std::vector<plan::Clash>(50, {.desired = read_rule("1000: from 10.96.23.17 lookup 100 proto 183"),
                                                .foreign = read_rule("1000: from 10.96.23.17 lookup 200")})),
              SizeIs(api::NodeState::kMaxDrift - RepairLog::kMost));
}

}  // namespace
}  // namespace agent
