#include "controller/own_writes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace controller {
namespace {

using namespace std::chrono_literals;

struct Written {
  meta::Meta meta;
};

kube::View<Written> view_at(std::uint64_t version) {
  return {.complete = true, .version = version};
}

std::string answer_of(std::uint64_t version) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}}}})", version);
}

constexpr base::TimePoint kWrittenAt{1h};

TEST(OwnWritesTest, a_view_has_caught_up_when_it_shows_the_last_write) {
  OwnWrites own;
  EXPECT_TRUE(own.are_in(view_at(3), kWrittenAt));
  EXPECT_EQ(own.note(answer_of(7), kWrittenAt), 7U);
  EXPECT_FALSE(own.are_in(view_at(6), kWrittenAt));
  EXPECT_TRUE(own.are_in(view_at(7), kWrittenAt));
}

TEST(OwnWritesTest, an_update_that_changed_nothing_takes_no_earlier_write_back) {
  OwnWrites own;
  own.note(answer_of(9), kWrittenAt);
  EXPECT_EQ(own.note(answer_of(4), kWrittenAt), 4U);
  EXPECT_FALSE(own.are_in(view_at(8), kWrittenAt)) << "the object of version 9 would be created again";
  EXPECT_TRUE(own.are_in(view_at(9), kWrittenAt));
}

TEST(OwnWritesTest, a_removal_is_seen_when_the_object_is_gone) {
  OwnWrites own;
  const meta::Meta gone{.name = "a", .uid = "one"};
  auto view = view_at(5);
  view.objects.insert(
      std::make_shared<const kube::Object<Written>>(kube::Object<Written>{{"", "a"}, "one", 5, Written{.meta = gone}}));
  own.note_removal(gone, kWrittenAt);
  EXPECT_FALSE(own.are_in(view, kWrittenAt));
  EXPECT_TRUE(own.are_in(view_at(6), kWrittenAt));
}

// Restored from a backup, the storage counts from a lower number: what was written before is no measure any more.
TEST(OwnWritesTest, what_is_not_seen_for_long_is_forgotten_and_later_writes_count_by_themselves) {
  OwnWrites own;
  own.note(answer_of(1000), kWrittenAt);
  EXPECT_FALSE(own.are_in(view_at(500), kWrittenAt + 5s));
  EXPECT_TRUE(own.are_in(view_at(500), kWrittenAt + 6s));
  own.note(answer_of(501), kWrittenAt + 7s);
  EXPECT_FALSE(own.are_in(view_at(500), kWrittenAt + 7s));
  EXPECT_TRUE(own.are_in(view_at(501), kWrittenAt + 7s));
}

}  // namespace
}  // namespace controller
