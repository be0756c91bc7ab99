#include "kube/event_journal.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "json/reader.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kFirstEvent(1h);
const EventJournal::WallTime kWall(1'769'853'600s);

Notice about(const std::string& name, const std::string& note = "note", const std::string& reason = "Reason") {
  Notice out;
  out.regarding = {"v1", "Service", "shop", name, "uid-" + name};
  out.reason = reason;
  out.action = "Reconcile";
  out.note = note;
  return out;
}

class EventJournalTest : public testing::Test {
 protected:
  void add(const Notice& notice, base::Duration at) { journal_.add(notice, kFirstEvent + at, kWall + at); }
  std::optional<EventJournal::Write> write(base::Duration at) {
    const auto out = journal_.next(kFirstEvent + at);
    if (out) journal_.wrote(*out);
    return out;
  }

  EventJournal journal_{0xabc};
};

TEST_F(EventJournalTest, the_first_is_written_at_once_and_repeats_once_a_minute) {
  add(about("a"), 0s);
  const auto first = write(0s);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->create);
  EXPECT_EQ(first->event.text(), "shop/a.0000000000000abc");
  for (int i = 1; i <= 30; ++i) add(about("a"), i * 1s);
  EXPECT_FALSE(write(59s));
  const auto second = write(60s);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->create);
  EXPECT_EQ(second->event, first->event);
  EXPECT_EQ(second->count, 31);
  EXPECT_EQ(second->last, kWall + 30s);
  EXPECT_FALSE(journal_.next_due(kFirstEvent + 60s));
}

TEST_F(EventJournalTest, another_note_is_another_event_but_not_before_its_minute) {
  add(about("a", "one"), 0s);
  (void)write(0s);
  add(about("a", "two"), 10s);
  add(about("a", "three"), 20s);
  EXPECT_EQ(journal_.next_due(kFirstEvent + 20s), kFirstEvent + 60s);
  const auto next = write(60s);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->create);
  EXPECT_EQ(next->what.note, "three");
  EXPECT_EQ(next->count, 2);
}

TEST_F(EventJournalTest, other_objects_and_reasons_do_not_wait) {
  add(about("a"), 0s);
  add(about("b"), 0s);
  add(about("a", "note", "Other"), 0s);
  EXPECT_TRUE(write(0s));
  EXPECT_TRUE(write(0s));
  EXPECT_TRUE(write(0s));
  EXPECT_FALSE(write(0s));
}

TEST_F(EventJournalTest, a_series_ends_after_six_minutes_of_silence) {
  add(about("a"), 0s);
  (void)write(0s);
  add(about("a"), 8min);
  const auto next = write(8min);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->create);
  EXPECT_EQ(next->count, 1);
}

TEST_F(EventJournalTest, what_failed_is_told_with_the_next_write) {
  add(about("a"), 0s);
  const auto lost = journal_.next(kFirstEvent);
  journal_.failed(*lost, EventJournal::Failure::passing);
  add(about("a"), 5s);
  EXPECT_FALSE(write(5s));
  const auto again = write(60s);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->create);
  EXPECT_EQ(again->event, lost->event);
  EXPECT_EQ(again->count, 2);
  EXPECT_EQ(again->first, kWall);
}

TEST_F(EventJournalTest, what_was_stored_though_its_answer_was_lost_goes_on_as_a_series) {
  add(about("a"), 0s);
  journal_.failed(*journal_.next(kFirstEvent), EventJournal::Failure::passing);
  add(about("a"), 5s);
  const auto again = journal_.next(kFirstEvent + 1min);
  journal_.failed(*again, EventJournal::Failure::known);
  const auto series = write(2min);
  ASSERT_TRUE(series);
  EXPECT_FALSE(series->create);
  EXPECT_EQ(series->event, again->event);
  EXPECT_EQ(series->count, 2);
  EXPECT_EQ(series->unreported, 1);
}

TEST_F(EventJournalTest, what_was_refused_after_its_answer_was_lost_begins_anew) {
  for (int i = 0; i < 3; ++i) add(about("a"), 0s);
  journal_.failed(*journal_.next(kFirstEvent), EventJournal::Failure::passing);
  journal_.failed(*journal_.next(kFirstEvent + 1min), EventJournal::Failure::final);
  EXPECT_FALSE(journal_.next_due(kFirstEvent + 2min));
  add(about("a"), 2min);
  const auto fresh = journal_.next(kFirstEvent + 2min);
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(fresh->create);
  EXPECT_EQ(fresh->count, 1);
  journal_.failed(*fresh, EventJournal::Failure::known);  // So it is not that of the first try.
  add(about("a"), 3min);
  const auto another = write(3min);
  ASSERT_TRUE(another);
  EXPECT_TRUE(another->create);
  EXPECT_EQ(another->count, 1);
}

TEST_F(EventJournalTest, a_name_that_is_another_ones_is_not_asked_for_again) {
  add(about("a"), 0s);
  journal_.failed(*journal_.next(kFirstEvent), EventJournal::Failure::known);
  EXPECT_FALSE(journal_.next_due(kFirstEvent + 1min));
}

TEST_F(EventJournalTest, an_event_that_has_expired_is_made_anew) {
  add(about("a"), 0s);
  (void)write(0s);
  add(about("a"), 1min);
  const auto series = journal_.next(kFirstEvent + 1min);
  ASSERT_FALSE(series->create);
  journal_.failed(*series, EventJournal::Failure::gone);
  const auto fresh = write(2min);
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(fresh->create);
}

TEST_F(EventJournalTest, what_the_server_never_accepts_is_not_repeated) {
  add(about("a"), 0s);
  journal_.failed(*journal_.next(kFirstEvent), EventJournal::Failure::final);
  EXPECT_FALSE(journal_.next_due(kFirstEvent));
}

TEST_F(EventJournalTest, a_flood_is_bounded_and_what_is_dropped_is_counted) {
  for (int i = 0; i < 10'000; ++i) add(about(std::to_string(i)), 0s);
  EXPECT_EQ(journal_.dropped(), 10'000 - EventJournal::kMost);
  int burst = 0;
  while (write(0s)) ++burst;
  EXPECT_EQ(burst, 50);
  EXPECT_EQ(journal_.next_due(kFirstEvent), kFirstEvent + 100ms);
  add(about("late"), 2min);  // Those already told make room.
  EXPECT_EQ(journal_.dropped(), 10'000 - EventJournal::kMost);
}

TEST_F(EventJournalTest, of_one_object_and_reason_at_most_one_write_a_minute_whatever_comes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    EventJournal journal(seed);
    std::map<std::string, base::TimePoint> last;
    std::map<std::string, int> added;
    std::map<std::string, int> told;
    base::TimePoint now = kFirstEvent;
    for (int i = 0; i < 400; ++i) {
      now += std::chrono::milliseconds(random() % 20'000);
      const std::string name(1, static_cast<char>('a' + random() % 3));
      journal.add(about(name, "note " + std::to_string(random() % 2)), now, kWall);
      ++added[name];
      while (const auto write = journal.next(now)) {
        const std::string& who = write->what.regarding.name;
        ASSERT_TRUE(!last.contains(who) || now - last[who] >= 1min) << "seed " << seed;
        last[who] = now;
        if (random() % 4 == 0) {
          journal.failed(*write, EventJournal::Failure::passing);
        } else {
          journal.wrote(*write);
          told[who] += write->unreported;
        }
      }
    }
    now += 1h;
    while (const auto write = journal.next(now)) told[write->what.regarding.name] += write->unreported;
    ASSERT_EQ(told, added) << "seed " << seed;  // Nothing is counted twice or forgotten.
  }
}

TEST(EncodeEvent, is_what_the_api_wants) {
  EventJournal journal(1);
  Notice notice = about("a", std::string(2000, 'x') + "\u00e9");
  notice.regarding.ns = "";
  notice.regarding.name = std::string(253, 'n');
  journal.add(notice, kFirstEvent, kWall);
  journal.add(notice, kFirstEvent, kWall + 1s);
  const auto write = journal.next(kFirstEvent).value();
  json::Reader reader;
  const auto root = reader.parse(encode_event(write, {"iprule", "pod-1"})).value();
  EXPECT_EQ(root["metadata"]["namespace"].string().value(), "default");
  EXPECT_LE(root["metadata"]["name"].string().value().size(), 253U);
  EXPECT_EQ(root["note"].string().value().size(), 1024U);
  EXPECT_EQ(root["series"]["count"].integer<int>().value(), 2);
  EXPECT_EQ(root["eventTime"].string().value(), "2026-01-31T10:00:00.000000Z");
  EXPECT_EQ(encode_series(write), R"({"series":{"count":2,"lastObservedTime":"2026-01-31T10:00:01.000000Z"}})");
}

TEST(EncodeEvent, names_what_else_it_concerns) {
  EventJournal journal(1);
  Notice notice = about("a");
  journal.add(notice, kFirstEvent, kWall);
  json::Reader reader;
  EXPECT_FALSE(
      reader.parse(encode_event(journal.next(kFirstEvent).value(), {"iprule", "pod-1"})).value()["related"].exists());
  notice.regarding.name = "b";
  notice.related = {.api_version = "v1", .kind = "Node", .ns = "", .name = "worker-3", .uid = "node-uid"};
  journal.add(notice, kFirstEvent, kWall);
  const auto root = reader.parse(encode_event(journal.next(kFirstEvent).value(), {"iprule", "pod-1"})).value();
  EXPECT_EQ(root["regarding"]["name"].string().value(), "b");
  EXPECT_EQ(root["related"]["kind"].string().value(), "Node");
  EXPECT_EQ(root["related"]["name"].string().value(), "worker-3");
  EXPECT_EQ(root["related"]["uid"].string().value(), "node-uid");
}

}  // namespace
}  // namespace kube
