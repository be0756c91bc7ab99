#include "cli/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Listing example() {
  Listing out({{"NODE"}, {"RULES"}, {"KERNEL", true}});
  out.row({"node/b", {"b", "10", "6.1"}, R"({"name":"b","rules":10,"facts":{"kernel":"6.1"}})"});
  out.row({"node/a", {"a", "9", "6.12"}, R"({"name":"a","rules":9,"facts":{"kernel":"6.12"}})"});
  out.row({"node/c", {"c", "-", "-"}, R"({"name":"c"})"});
  return out;
}

std::string shown(const Listing& listing, const ListStyle& style) {
  Page page;
  listing.print(page, style);
  return page.render({});
}

TEST(Listing, shows_more_to_who_asks_for_it_and_no_titles_to_a_script) {
  EXPECT_EQ(shown(example(), {}), "NODE  RULES\nb     10\na     9\nc     -\n");
  EXPECT_EQ(shown(example(), {.wide = true}),
            "NODE  RULES  KERNEL\nb     10     6.1\na     9      6.12\nc     -      -\n");
  EXPECT_EQ(shown(example(), {.headers = false}), "b  10\na  9\nc  -\n");
  EXPECT_EQ(shown(Listing({{"NODE"}, {"RULES"}}), {}), "");
}

TEST(Listing, is_sorted_by_a_field_numbers_by_size) {
  for (const char* path : {"{.rules}", ".rules", "rules"}) {
    Listing listing = example();
    ASSERT_TRUE(listing.sort(path));
    EXPECT_THAT(listing.names(), ElementsAre("node/c", "node/a", "node/b")) << path;
  }
  Listing listing = example();
  ASSERT_TRUE(listing.sort(".name"));
  EXPECT_THAT(listing.names(), ElementsAre("node/a", "node/b", "node/c"));
  ASSERT_TRUE(listing.sort("{.facts.kernel}"));
  EXPECT_THAT(listing.names(), ElementsAre("node/c", "node/b", "node/a"));
}

TEST(Listing, names_that_look_like_numbers_are_names) {
  Listing names({{"NODE"}});
  for (const char* name : {"9", "10", "1a", "nan", "1e5"}) {
    names.row({name, {name}, json::object([&](json::Object& row) { row.put("name", name); })});
  }
  ASSERT_TRUE(names.sort(".name"));
  EXPECT_THAT(names.names(), ElementsAre("10", "1a", "1e5", "9", "nan"));
}

TEST(Listing, one_that_is_no_number_makes_all_of_them_text) {
  Listing mixed({{"NODE"}});
  for (const char* row : {R"({"x":9})", R"({"x":10})", R"({"x":"1a"})"}) mixed.row({row, {""}, row});
  ASSERT_TRUE(mixed.sort(".x"));
  EXPECT_THAT(mixed.names(), ElementsAre(R"({"x":10})", R"({"x":"1a"})", R"({"x":9})"));
}

TEST(Listing, a_field_that_nobody_has_is_named_with_the_nearest) {
  Listing listing = example();
  const auto typo = listing.sort(".rulse");
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().message(), "--sort-by: no row has a field \".rulse\"; did you mean \"rules\"?");
  EXPECT_THAT(listing.sort(".items[*].x").error().message(), HasSubstr("is no path of fields"));
  EXPECT_FALSE(listing.sort("{.}"));
}

TEST(Listing, names_an_object_once) {
  Listing listing = example();
  listing.row({"node/b", {"b", "more"}, "{}"});
  EXPECT_THAT(listing.names(), ElementsAre("node/b", "node/a", "node/c"));
}

}  // namespace
}  // namespace cli
