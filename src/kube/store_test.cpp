#include "kube/store.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

struct Thing {
  std::string text;
};

base::Result<Thing> decode(const json::Value& object) {
  return Thing{std::string(TRY(object["text"].string()))};
}

class StoreTest : public testing::Test {
 protected:
  bool put(std::uint64_t version, std::string_view body, const std::string& uid = "u") {
    json::Reader reader;
    store_.put({.key = {"", "a"}, .uid = uid, .version = version}, reader.parse(body).value());
    store_.settle();
    return changed_.wait({}, base::TimePoint());
  }

  std::string text() const { return store_.latest()->objects.front()->value.text; }

  runtime::Signal changed_;
  Store<Thing> store_{decode, changed_,
                      [](const Thing& before, const Thing& after) { return before.text.size() == after.text.size(); }};
};

TEST_F(StoreTest, D13_a_change_that_means_nothing_is_kept_but_wakes_nobody) {
  EXPECT_TRUE(put(1, R"({"text":"one"})"));
  EXPECT_FALSE(put(2, R"({"text":"two"})"));
  EXPECT_EQ(store_.latest()->objects.front()->value.text, "two");
  EXPECT_TRUE(put(3, R"({"text":"three"})"));
}

TEST_F(StoreTest, an_echo_of_the_past_changes_nothing) {
  EXPECT_TRUE(put(5, R"({"text":"newest"})"));
  EXPECT_FALSE(put(3, R"({"text":"older"})"));
  EXPECT_FALSE(put(5, R"({"text":"the same again"})"));
  store_.remove({.key = {"", "a"}, .uid = "u", .version = 4});
  ASSERT_EQ(store_.latest()->objects.size(), 1U);
  EXPECT_EQ(store_.latest()->objects.front()->value.text, "newest");
}

// Events about one object come in the order of their versions; those about different ones in whatever order.
TEST(StoreOrder, A5_five_events_about_different_objects_end_in_the_same_whatever_their_order) {
  struct Told {
    bool is_removal;
    Identity identity;
    std::string_view body;
  };
  const std::vector<Told> told = {
      {false, {.key = {"", "changed"}, .uid = "c", .version = 11}, R"({"text":"later"})"},
      {false, {.key = {"", "new"}, .uid = "n", .version = 12}, R"({"text":"new"})"},
      {true, {.key = {"", "removed"}, .uid = "r", .version = 13}, {}},
      {false, {.key = {"", "made-again"}, .uid = "second", .version = 14}, R"({"text":"again"})"},
      {false, {.key = {"", "spoilt"}, .uid = "s", .version = 15}, R"({"text":5})"},
  };
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  int orders = 0;
  do {
    runtime::Signal changed;
    Store<Thing> store(decode, changed);
    json::Reader reader;
    store.begin_list(true);
    for (const auto* name : {"changed", "removed", "made-again", "spoilt"}) {
      store.put({.key = {"", name}, .uid = std::string(name, 1), .version = 5},
                reader.parse(R"({"text":"first"})").value());
    }
    store.end_list(10);
    std::uint64_t newest = 10;
    for (const std::size_t i : order) {
      const Told& event = told[i];
      if (event.is_removal) {
        store.remove(event.identity);
      } else {
        store.put(event.identity, reader.parse(event.body).value());
      }
      newest = std::max(newest, event.identity.version);
      store.reached(newest);
    }
    std::string end;
    for (const auto& object : store.latest()->objects) {
      end += fmt::format("{} {} {} {}; ", object->key.name, object->uid, object->version, object->value.text);
    }
    for (const auto& [key, unreadable] : store.latest()->unknown) end += fmt::format("? {}", key.name);
    SCOPED_TRACE(fmt::format("{}", fmt::join(order, " ")));
    ASSERT_EQ(end, "changed c 11 later; made-again second 14 again; new n 12 new; spoilt s 5 first; ? spoilt");
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 120);
}

TEST_F(StoreTest, what_becomes_unreadable_or_readable_is_news) {
  EXPECT_TRUE(put(1, R"({"text":"one"})"));
  EXPECT_TRUE(put(2, R"({"text":5})"));
  const auto view = store_.latest();
  ASSERT_TRUE(view->unknown.contains({"", "a"}));
  EXPECT_EQ(view->unknown.at({"", "a"}).uid, "u");
  EXPECT_NE(view->unknown.at({"", "a"}).why, "");
  EXPECT_TRUE(put(3, R"({"text":"one"})"));
}

// As where the deletion of the first was never told.
TEST_F(StoreTest, another_object_of_the_same_name_is_news_however_alike_it_is) {
  EXPECT_TRUE(put(1, R"({"text":"one"})"));
  EXPECT_TRUE(put(2, R"({"text":"two"})", "another"));
  ASSERT_EQ(store_.latest()->objects.size(), 1U);
  EXPECT_EQ(store_.latest()->objects.front()->uid, "another");
  EXPECT_EQ(store_.latest()->objects.front()->value.text, "two");
}

TEST_F(StoreTest, another_object_of_the_same_name_that_cannot_be_read_takes_the_old_one_away) {
  EXPECT_TRUE(put(1, R"({"text":"one"})"));
  EXPECT_TRUE(put(2, R"({"text":5})", "another"));
  EXPECT_TRUE(store_.latest()->objects.empty());
  ASSERT_TRUE(store_.latest()->unknown.contains({"", "a"}));
  EXPECT_EQ(store_.latest()->unknown.at({"", "a"}).uid, "another");
}

TEST_F(StoreTest, A8_a_list_after_a_fall_of_the_storage_takes_nothing_known_for_granted) {
  EXPECT_TRUE(put(8, R"({"text":"old"})"));
  store_.begin_list(false);
  (void)put(8, R"({"text":"new"})");
  store_.end_list(9);
  EXPECT_EQ(text(), "new");
}

// Otherwise nothing would be taken until the storage has come to that number a second time.
TEST_F(StoreTest, A8_the_version_of_a_time_that_is_lost_does_not_outlive_it_on_an_object_that_cannot_be_read) {
  EXPECT_TRUE(put(8, R"({"text":"old"})"));
  store_.begin_list(false);
  (void)put(5, R"({"text":5})");
  store_.end_list(6);
  EXPECT_EQ(text(), "old") << "unknown is not deleted";
  (void)put(7, R"({"text":"new"})");
  EXPECT_EQ(text(), "new");
  EXPECT_TRUE(store_.latest()->unknown.empty());
}

TEST_F(StoreTest, of_a_list_where_versions_hold_only_what_is_new_is_decoded) {
  EXPECT_TRUE(put(8, R"({"text":"known"})"));
  const auto known = store_.latest()->objects.front();
  store_.begin_list(true);
  (void)put(8, R"({"text":"known"})");
  store_.end_list(9);
  EXPECT_EQ(store_.latest()->objects.front(), known) << "the very same";
}

TEST_F(StoreTest, it_knows_when_the_server_last_told_anything) {
  EXPECT_EQ(store_.heard_at(), base::TimePoint());
  store_.trouble(base::Error(base::Fault::denied, "403"));
  store_.settle();
  EXPECT_EQ(store_.heard_at(), base::TimePoint()) << "a refusal tells nothing";
  store_.reached(7);
  store_.settle();
  const base::TimePoint bookmark = store_.heard_at();
  EXPECT_NE(bookmark, base::TimePoint());
  EXPECT_TRUE(put(8, R"({"text":"one"})"));
  EXPECT_GE(store_.heard_at(), bookmark);
}

}  // namespace
}  // namespace kube
