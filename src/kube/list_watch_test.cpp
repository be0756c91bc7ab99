#include "kube/list_watch.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/heap_test.h"
#include "kube/list_watch_test.h"
#include "kube/message_test.h"
#include "kube/reflector.h"
#include "kube/store.h"

namespace kube {
namespace {

using base::Fault;
using namespace std::chrono_literals;

// The steps one by one, for what the simulation does not look at.
class Steps : public testing::Test {
 protected:
  template <typename Kind>
  Kind next() {
    const auto step = steps_.next(now_);
    if (const auto* kind = std::get_if<Kind>(&step)) return *kind;
    ADD_FAILURE() << "another kind of step: " << step.index();
    return {};
  }
  void hear(const std::string& type, const std::string& object) {
    steps_.heard(fmt::format(R"({{"type":"{}","object":{}}})", type, object), now_);
  }
  // A list of nothing, in pages or by a stream, and a watch from there that has brought something.
  void load(std::uint64_t version) {
    const auto step = steps_.next(now_);
    if (std::holds_alternative<ListWatch::List>(step)) {
      steps_.listed(fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[]}})", version), now_);
      (void)next<ListWatch::Watch>();
    }
    steps_.opened(now_);
    end_of_list(version);
  }
  void end_of_list(std::uint64_t version) {
    hear("BOOKMARK", fmt::format(R"({{"metadata":{{"resourceVersion":"{}",
        "annotations":{{"k8s.io/initial-events-end":"true"}}}}}})",
                                 version));
  }
  void ask_for_second_list() {
    load(3);
    steps_.list_again();
  }
  // Between the first page and the second.
  void let_pages_expire() {
    (void)next<ListWatch::List>();
    steps_.listed(R"({"metadata":{"resourceVersion":"7","continue":"more"},"items":[]})", now_);
    EXPECT_EQ(next<ListWatch::List>().request.token, "more");
    steps_.failed(status(410, "Expired"), now_ += 5min);
  }
  void end_in_time() { steps_.ended(now_ = steps_.quiet_until() - 5s); }

  runtime::Signal changed_;
  Store<std::string> store_{decode, changed_};
  ListWatch steps_{{}, store_, 1};
  base::TimePoint now_{1h};
};

TEST_F(Steps, E6_who_is_to_begin_later_asks_nothing_before) {
  ListWatch later({.selection = {}, .begin = now_ + 3s}, store_, 1);
  const auto first = later.next(now_);
  ASSERT_TRUE(std::holds_alternative<ListWatch::Pause>(first));
  EXPECT_EQ(std::get<ListWatch::Pause>(first).until, now_ + 3s);
  EXPECT_TRUE(std::holds_alternative<ListWatch::List>(later.next(now_ + 3s)));
}

TEST_F(Steps, the_first_list_is_the_newest_state_and_later_ones_not_older_than_seen) {
  const auto first = next<ListWatch::List>();
  EXPECT_TRUE(first.is_whole);
  EXPECT_EQ(first.request.not_older_than, 0U);
  load(7);
  end_in_time();
  EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
  steps_.opened(now_);
  end_in_time();  // In silence: look again.
  const auto second = next<ListWatch::Watch>().request;
  EXPECT_TRUE(second.initial);
  EXPECT_EQ(second.from, 7U);
}

// Initial events come in no order: of a list that was cut, not even the versions are known to be seen.
TEST_F(Steps, a_streamed_list_that_was_cut_counts_for_nothing) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.opened(now_);
  hear("ADDED", R"({"metadata":{"name":"late","resourceVersion":"50"}})");
  steps_.ended(now_);
  EXPECT_EQ(store_.latest()->lists, 1U);
  EXPECT_EQ(store_.latest()->version, 3U);
  now_ += 1min;
  EXPECT_EQ(next<ListWatch::List>().request.not_older_than, 0U);
  load(7);
  EXPECT_EQ(store_.latest()->version, 7U) << "no list that goes back in time";
  EXPECT_TRUE(store_.latest()->objects.empty());
}

TEST_F(Steps, half_an_object_is_not_kept_through_a_pause) {
  constexpr std::size_t kHalf = 8U << 20U;
  load(3);
  const std::size_t before = heap_in_use();
  for (const bool in_good_order : {true, false}) {
    steps_.heard(R"({"type":"ADDED","object":{"value":")" + std::string(kHalf, 'x'), now_);
    in_good_order ? steps_.ended(now_) : steps_.failed(base::Error(Fault::unavailable, "cut"), now_);
    EXPECT_LT(heap_in_use(), before + kHalf / 2);
    steps_.opened(now_ += 1min);
  }
}

TEST_F(Steps, asked_to_look_again_it_takes_the_newest_list_and_counts_it) {
  load(7);
  EXPECT_EQ(store_.latest()->lists, 1U);
  steps_.list_again();  // In the midst of a watch.
  const auto again = next<ListWatch::Watch>().request;
  EXPECT_TRUE(again.initial);
  EXPECT_EQ(again.from, 0U);
  steps_.opened(now_);
  steps_.list_again();  // In the midst of that list: it counts for nothing.
  EXPECT_EQ(store_.latest()->lists, 1U);
  load(7);
  EXPECT_EQ(store_.latest()->lists, 2U);
  EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
}

TEST_F(Steps, a_watch_lasts_five_to_ten_minutes_and_is_given_up_a_little_later) {
  load(7);
  end_in_time();
  for (int i = 0; i < 100; ++i) {
    const auto timeout = next<ListWatch::Watch>().request.timeout;
    EXPECT_GE(timeout, 5min);
    EXPECT_LE(timeout, 10min);
    steps_.opened(now_);
    end_of_list(8);
    EXPECT_EQ(steps_.quiet_until(), now_ + timeout + 5s);
    end_in_time();
  }
}

// A deletion that was never told leaves an object that nobody would ask about again.
TEST_F(Steps, A6_about_once_an_hour_a_renewed_watch_brings_the_whole_state) {
  load(7);
  hear("ADDED", R"({"metadata":{"name":"a","resourceVersion":"8"},"value":"one"})");
  const base::TimePoint start = now_;
  int renewals = 0;
  ListWatch::Watch watch;
  do {
    end_in_time();
    watch = next<ListWatch::Watch>();
    steps_.opened(now_);
    if (!watch.request.initial) hear("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})");
    ++renewals;
  } while (!watch.request.initial && renewals < 100);
  EXPECT_GE(now_ - start, 55min);
  EXPECT_LE(now_ - start, 65min + 5s);
  EXPECT_EQ(watch.request.from, 9U);
  EXPECT_EQ(store_.latest()->objects.size(), 1U);
  end_of_list(9);
  EXPECT_TRUE(store_.latest()->objects.empty());
  end_in_time();
  EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
}

TEST_F(Steps, A6_where_lists_come_in_pages_only_so_does_the_one_about_once_an_hour) {
  ask_for_second_list();
  for (const std::uint64_t version : {7U, 17U, 27U}) {
    const auto list = next<ListWatch::Watch>().request;
    EXPECT_TRUE(list.initial) << "a refusal does not hold for ever";
    steps_.failed(status(422, "Invalid"), now_);
    EXPECT_EQ(next<ListWatch::List>().request.not_older_than, list.from);
    load(version);
    EXPECT_TRUE(store_.latest()->objects.empty());
    hear("ADDED", fmt::format(R"({{"metadata":{{"name":"a","resourceVersion":"{}"}},"value":"one"}})", version + 1));
    const base::TimePoint start = now_;
    for (int renewals = 0; renewals < 100; ++renewals) {
      end_in_time();
      const auto watch = next<ListWatch::Watch>().request;
      if (watch.initial) break;
      steps_.opened(now_);
      hear("BOOKMARK", fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}}}})", version + 2));
    }
    EXPECT_GE(now_ - start, 55min);
    EXPECT_LE(now_ - start, 65min + 5s);
  }
  EXPECT_EQ(store_.latest()->lists, 4U);
  EXPECT_EQ(steps_.failures(), 0U);
}

// As some load balancers do; there is no renewal in good order then.
TEST_F(Steps, A6_where_each_watch_is_cut_the_whole_state_is_listed_all_the_same) {
  load(7);
  hear("ADDED", R"({"metadata":{"name":"a","resourceVersion":"8"},"value":"one"})");
  base::Duration followed{0};
  while (followed < 24h) {
    followed += 1min;
    steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_ += 1min);
    now_ += 1min;
    const auto step = steps_.next(now_);
    if (!std::holds_alternative<ListWatch::List>(step)) break;
    EXPECT_FALSE(std::get<ListWatch::List>(step).is_whole);
    steps_.listed(R"({"metadata":{"resourceVersion":"8"},"items":[]})", now_);
    EXPECT_FALSE(next<ListWatch::Watch>().request.initial);
    steps_.opened(now_);
  }
  EXPECT_GE(followed, 65min) << "what was not followed does not count";
  EXPECT_LE(followed, 70min);
  const auto list = next<ListWatch::Watch>().request;
  EXPECT_TRUE(list.initial);
  EXPECT_EQ(list.from, 8U);
  load(9);
  EXPECT_TRUE(store_.latest()->objects.empty());
  steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_ += 1min);
  now_ += 1min;
  EXPECT_FALSE(next<ListWatch::List>().is_whole) << "an hour is to pass again";
}

TEST_F(Steps, a_watch_that_was_cut_goes_on_where_the_server_still_reaches_its_version) {
  load(7);
  steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_);
  now_ += 1s;
  const auto list = next<ListWatch::List>();
  EXPECT_FALSE(list.is_whole) << "its version alone counts";
  EXPECT_EQ(list.request.limit, 1U);
  EXPECT_EQ(list.request.not_older_than, 7U);
  steps_.listed(R"({"metadata":{"resourceVersion":"9","continue":"more"},"items":[{}]})", now_);
  const auto watch = next<ListWatch::Watch>().request;
  EXPECT_FALSE(watch.initial);
  EXPECT_EQ(watch.from, 7U);
  EXPECT_EQ(store_.latest()->lists, 1U);
}

// A cache that lists a version its own watches have forgotten must not be asked in a circle.
TEST_F(Steps, a_version_that_expires_again_right_after_its_list_waits) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.failed(status(422, "Invalid"), now_);
  load(7);
  steps_.failed(status(410, "Expired"), now_);
  load(8);  // At once.
  EXPECT_EQ(steps_.failures(), 0U);
  steps_.failed(status(410, "Expired"), now_);
  EXPECT_EQ(steps_.failures(), 1U);
  EXPECT_TRUE(std::holds_alternative<ListWatch::Pause>(steps_.next(now_)));
}

// A restored storage: resumed from our version, the watch would bring nothing until the server has come that far.
TEST_F(Steps, A8_a_version_that_has_fallen_is_noticed_before_the_watch_goes_on) {
  load(7);
  steps_.ended(now_);  // Too early: the server was stopped.
  (void)next<ListWatch::List>();
  steps_.failed(status(504, "Timeout", {{.reason = "ResourceVersionTooLarge", .message = "", .field = ""}}), now_);
  load(3);
  EXPECT_EQ(store_.latest()->version, 7U) << "one consistent read is not enough";
  now_ += 1s;
  load(3);
  EXPECT_EQ(store_.latest()->version, 3U);
  EXPECT_EQ(store_.latest()->lists, 2U);
}

TEST_F(Steps, A8_so_it_is_when_the_server_shows_what_is_older_than_asked_for) {
  load(7);
  steps_.ended(now_);
  (void)next<ListWatch::List>();
  steps_.listed(R"({"metadata":{"resourceVersion":"3"},"items":[]})", now_);
  const auto list = next<ListWatch::Watch>().request;
  EXPECT_TRUE(list.initial);
  EXPECT_EQ(list.from, 0U) << "the newest there is";
}

// The server has reached our version a second time: nothing that it says is wrong.
TEST_F(Steps, A8_another_kind_that_saw_the_storage_fall_back_is_believed_at_once) {
  load(7);
  steps_.failed(base::Error(Fault::unavailable, "connection lost"), now_);
  now_ += 1s;
  steps_.storage_fell_back();
  const auto list = next<ListWatch::Watch>().request;
  EXPECT_TRUE(list.initial);
  EXPECT_EQ(list.from, 0U) << "the newest there is";
  steps_.opened(now_);
  end_of_list(3);
  EXPECT_EQ(store_.latest()->version, 3U);
  EXPECT_EQ(steps_.falls(), 0U) << "it is no news";
}

// Of the time that is lost, and of the time after it, one object may have the same version.
TEST_F(Steps, A8_after_a_fall_of_the_storage_an_object_of_a_known_version_is_read_anew) {
  const auto object = [](const std::string& value) {
    return fmt::format(R"({{"metadata":{{"name":"a","uid":"u","resourceVersion":"8"}},"value":"{}"}})", value);
  };
  load(7);
  hear("ADDED", object("old"));
  steps_.storage_fell_back();
  (void)next<ListWatch::Watch>();
  steps_.opened(now_);
  hear("ADDED", object("new"));
  end_of_list(9);
  EXPECT_EQ(store_.latest()->objects.front()->value, "new");
}

TEST_F(Steps, A8_a_fall_of_the_storage_that_is_seen_here_counts_once) {
  load(7);
  steps_.list_again();
  load(3);
  EXPECT_EQ(steps_.falls(), 0U) << "one consistent read is not enough";
  now_ += 1s;
  load(3);
  EXPECT_EQ(steps_.falls(), 1U);
  steps_.list_again();
  load(4);
  EXPECT_EQ(steps_.falls(), 1U);
}

TEST_F(Steps, an_expired_version_is_answered_by_a_list_at_once_but_only_once) {
  load(7);
  EXPECT_FALSE(steps_.heard(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})", now_));
  EXPECT_EQ(next<ListWatch::Watch>().request.from, 0U);
  steps_.failed(status(410), now_);
  (void)next<ListWatch::Pause>();
}

TEST_F(Steps, waits_grow_to_thirty_seconds_and_start_anew_after_a_good_while) {
  auto longest = base::Duration::zero();
  for (int i = 0; i < 40; ++i) {
    steps_.failed(status(503), now_);
    const auto wait = std::holds_alternative<ListWatch::Pause>(steps_.next(now_))
                          ? next<ListWatch::Pause>().until - now_
                          : base::Duration::zero();
    EXPECT_LE(wait, i == 0 ? base::Duration(800ms) : 30s);
    longest = std::max<base::Duration>(longest, wait);
    now_ += wait;
  }
  EXPECT_GT(longest, 15s);
  now_ += 3min;
  steps_.failed(status(503), now_);
  EXPECT_FALSE(std::holds_alternative<ListWatch::Pause>(steps_.next(now_ + 800ms)));
}

TEST_F(Steps, the_server_says_how_long_to_wait) {
  Error busy = status(429);
  busy.status->retry_after = 9s;
  steps_.failed(busy, now_);
  EXPECT_GE(next<ListWatch::Pause>().until, now_ + 9s);
}

TEST_F(Steps, a_refused_stream_means_pages_at_once) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.failed(status(422, "Invalid"), now_);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 1000U);
}

TEST_F(Steps, a_list_that_has_begun_in_pages_goes_on_in_pages_however_long_it_takes) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.failed(status(422, "Invalid"), now_);
  (void)next<ListWatch::List>();
  steps_.listed(R"({"metadata":{"resourceVersion":"7","continue":"more"},"items":[]})", now_);
  now_ += 1h;
  EXPECT_EQ(next<ListWatch::List>().request.token, "more");
}

// Whatever it is that lets no stream pass, or ends each of them: progress is better than to try the same for ever.
TEST_F(Steps, a_streamed_list_that_failed_is_tried_in_pages_after_a_pause) {
  const base::Error cut(Fault::unavailable, "connection lost");
  const auto is_tried_in_pages = [&](const auto& goes_wrong) {
    steps_.list_again();
    EXPECT_TRUE(next<ListWatch::Watch>().request.initial) << "the list before it came in pages for once";
    goes_wrong();
    (void)next<ListWatch::Pause>();
    now_ += 5min;
    const auto list = next<ListWatch::List>();
    load(store_.latest()->version + 1);
    return list.is_whole && list.request.token.empty();
  };
  const auto once_open = [&](const auto& goes_wrong) {
    return [&] {
      steps_.opened(now_);
      hear("ADDED", R"({"metadata":{"name":"a","resourceVersion":"8"}})");
      goes_wrong();
    };
  };
  load(3);
  EXPECT_TRUE(is_tried_in_pages(once_open([&] { steps_.ended(now_); })));
  EXPECT_TRUE(is_tried_in_pages(once_open([&] { steps_.failed(cut, now_); })));
  EXPECT_TRUE(is_tried_in_pages(once_open([&] { hear("ERROR", R"({"kind":"Status","code":500})"); })));
  EXPECT_TRUE(is_tried_in_pages([&] { steps_.failed(cut, now_); }));
  for (const int code : {403, 404, 405, 500, 503}) {
    EXPECT_TRUE(is_tried_in_pages([&] { steps_.failed(status(code), now_); })) << code;
  }
}

TEST_F(Steps, a_server_with_too_much_to_do_is_asked_for_a_stream_again) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.failed(status(429), now_);
  now_ += 1min;
  EXPECT_TRUE(next<ListWatch::Watch>().request.initial);
}

// First it tells us what to do. If that does not help, something else may.
TEST_F(Steps, a_streamed_list_whose_version_has_expired_is_tried_as_a_stream_once_more_and_then_in_pages) {
  const std::string gone = R"({"kind":"Status","code":410,"reason":"Expired"})";
  load(7);
  hear("ERROR", gone);
  EXPECT_TRUE(next<ListWatch::Watch>().request.initial) << "at once";
  steps_.opened(now_);
  hear("ERROR", gone);
  now_ += 1min;
  EXPECT_EQ(next<ListWatch::List>().request.not_older_than, 0U) << "still the newest there is";
  load(9);
  EXPECT_EQ(store_.latest()->version, 9U);
}

TEST_F(Steps, a_page_that_is_too_large_is_asked_for_again_by_half_as_many_objects) {
  const base::Error too_long(Fault::invalid, "the server's answer is larger than we accept", EMSGSIZE);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 1000U);
  steps_.listed(R"({"metadata":{"resourceVersion":"7","continue":"more"},"items":[]})", now_);
  (void)next<ListWatch::List>();
  steps_.failed(too_long, now_);
  const auto half = next<ListWatch::List>().request;
  EXPECT_EQ(half.limit, 500U);
  EXPECT_EQ(half.token, "more") << "what came before counts";
  EXPECT_EQ(steps_.failures(), 0U);
  steps_.failed(status(413), now_);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 250U);
  for (int i = 0; i < 8; ++i) steps_.failed(too_long, now_);
  EXPECT_EQ(steps_.failures(), 1U) << "one object alone is too large: that is no matter of pages";
  now_ += 1min;
  EXPECT_EQ(next<ListWatch::List>().request.limit, 1U);
}

// On a busy server that compacts often, or where pages are kept for a short while only.
TEST_F(Steps, A12_pages_that_expire_again_before_the_last_of_them_give_way_to_the_whole_list) {
  let_pages_expire();
  const auto again = next<ListWatch::List>().request;
  EXPECT_EQ(again.token, "") << "at once, and from the beginning";
  EXPECT_EQ(again.limit, 1000U);
  let_pages_expire();
  (void)next<ListWatch::Pause>();
  now_ += 1min;
  const auto whole = next<ListWatch::List>().request;
  EXPECT_EQ(whole.token, "");
  EXPECT_EQ(whole.limit, 0U);
  EXPECT_EQ(whole.not_older_than, 0U);
  load(7);
  EXPECT_TRUE(store_.latest()->complete);
  steps_.silent(now_);  // The next list is one like any other.
  now_ += 1min;
  EXPECT_TRUE(next<ListWatch::Watch>().request.initial);
  steps_.failed(status(422, "Invalid"), now_);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 1000U);
}

TEST_F(Steps, A12_a_whole_list_that_is_too_large_comes_in_pages_after_all) {
  let_pages_expire();
  let_pages_expire();
  now_ += 1min;
  EXPECT_EQ(next<ListWatch::List>().request.limit, 0U);
  steps_.failed(base::Error(Fault::invalid, "the server's answer is larger than we accept", EMSGSIZE), now_);
  EXPECT_EQ(next<ListWatch::List>().request.limit, 1000U);
  load(7);
  EXPECT_TRUE(store_.latest()->complete);
}

struct Large {
  static constexpr unsigned kPageSize = 50;
};

TEST(PageSize, is_for_each_kind_to_say) {
  EXPECT_EQ(page_size_of<Large>(), 50U);
  EXPECT_EQ(page_size_of<std::string>(), 1000U);
}

TEST_F(Steps, a_streamed_list_that_hangs_means_pages_this_time) {
  ask_for_second_list();
  (void)next<ListWatch::Watch>();
  steps_.opened(now_);
  EXPECT_EQ(steps_.quiet_until(), now_ + 30s);
  steps_.silent(now_ += 30s);
  now_ += 1s;
  (void)next<ListWatch::List>();
  steps_.listed(R"({"metadata":{"resourceVersion":"5"},"items":[]})", now_);
  EXPECT_EQ(store_.latest()->lists, 2U);
  EXPECT_EQ(next<ListWatch::Watch>().request.from, 5U);
}

namespace field = json::field;

constexpr json::Schema kNoteMeta{field::text(1, "name"), field::text(3, "namespace"), field::text(5, "uid"),
                                 field::text(6, "resourceVersion")};
constexpr json::Schema kNote{field::message(1, "metadata", kNoteMeta), field::text(2, "value")};

// An object that nobody can read must not hide the others of its kind, nor be taken for one that is gone.
TEST_F(Steps, A13_an_object_that_cannot_be_read_as_a_message_is_unknown_and_the_others_are_followed) {
  const auto note = [](const std::string& name, const std::string& version) {
    return json::WrittenMessage().message(1, meta_message(name, version));
  };
  ListWatch steps({.selection = {}, .schema = &kNote}, store_, 1);
  (void)steps.next(now_);
  json::WrittenMessage list;
  list.message(1, json::WrittenMessage().text(2, "7")).message(2, note("bad", "3").number(2, 5));
  steps.listed(enveloped("NoteList", list.message(2, note("good", "4").text(2, "one"))), now_);
  const auto unknown = [&] {
    std::string out;
    for (const auto& [key, found] : store_.latest()->unknown) out += key.name + " " + found.uid + " " + found.why + ";";
    return out;
  };
  EXPECT_TRUE(store_.latest()->complete);
  EXPECT_EQ(unknown(), "bad u-bad value: not a valid message;");
  ASSERT_EQ(store_.latest()->objects.size(), 1U);
  EXPECT_EQ(store_.latest()->objects.front()->value, "one");

  (void)steps.next(now_);
  steps.opened(now_);
  EXPECT_TRUE(steps.heard(event_message("MODIFIED", "Note", note("good", "8").number(2, 5)) +
                              event_message("ADDED", "Note", note("new", "9").text(2, "two")) +
                              event_message("DELETED", "Note", note("bad", "10").number(2, 5)),
                          now_));
  EXPECT_EQ(steps.failures(), 0U);
  EXPECT_EQ(unknown(), "good u-good value: not a valid message;");
  ASSERT_EQ(store_.latest()->objects.size(), 2U);
  EXPECT_EQ(store_.latest()->objects.front()->value, "one") << "as it last was";
  EXPECT_EQ(store_.latest()->version, 10U);
}

TEST_F(Steps, garbage_ends_the_stream_and_is_told) {
  load(7);
  EXPECT_FALSE(steps_.heard("garbage", now_));
  ASSERT_TRUE(store_.latest()->trouble);
  EXPECT_TRUE(store_.latest()->complete);
  EXPECT_TRUE(changed_.wait({}, base::SteadyClock().now()));
}

}  // namespace
}  // namespace kube
