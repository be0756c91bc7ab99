#include "json/reader.h"

#include <gtest/gtest.h>

namespace json {
namespace {

class ReaderTest : public testing::Test {
 protected:
  Value parse(std::string_view text) { return reader_.parse(text).value(); }
  std::string error(std::string_view text) {
    const auto value = reader_.parse(text);
    return value ? "" : value.error().message();
  }

  Reader reader_;
};

template <typename T>
std::string message(const base::Result<T>& result) {
  return result ? "no error" : result.error().message();
}

TEST_F(ReaderTest, values_are_reached_by_name_in_any_order) {
  const Value root = parse(R"({"spec":{"table":120,"cidrs":["10.0.0.0/8"],"on":true},"kind":"IPRule"})");
  EXPECT_EQ(*root["kind"].string(), "IPRule");
  EXPECT_EQ(*root["spec"]["table"].integer<std::uint32_t>(), 120U);
  EXPECT_EQ(*root["spec"]["on"].boolean(), true);
  EXPECT_EQ(*root["spec"]["cidrs"].items()->front().string(), "10.0.0.0/8");
  EXPECT_EQ(root["spec"]["cidrs"].text(), R"(["10.0.0.0/8"])");
}

TEST_F(ReaderTest, an_error_names_the_place_and_what_is_there) {
  const Value root = parse(R"({"spec":{"cidrs":["a","b",7],"table":"120","x":{"a/b":{"c":[[1,{"d":null}]]}}}})");
  const auto cidrs = *root["spec"]["cidrs"].items();
  EXPECT_EQ(message(cidrs[2].string()), "spec.cidrs[2]: expected a string, found a number");
  EXPECT_EQ(message(root["spec"]["table"].integer<int>()), "spec.table: expected a number, found a string");
  EXPECT_EQ(message(root["spec"]["cidrs"]["x"].string()), "spec.cidrs: expected an object, found a list");
  const Value deep = root["spec"]["x"]["a/b"]["c"].items()->front().items()->back();
  EXPECT_EQ(message(deep["d"].string()), R"(spec.x["a/b"].c[0][1].d: required, expected a string)");
  EXPECT_EQ(message(parse("7").string()), "expected a string, found a number");
}

TEST_F(ReaderTest, what_is_absent_or_null_has_a_default_and_is_otherwise_required) {
  const Value root = parse(R"({"spec":{"priority":null},"status":null})");
  EXPECT_EQ(*root["spec"]["priority"].integer_or(7), 7);
  EXPECT_EQ(*root["spec"]["name"].string_or("none"), "none");
  EXPECT_EQ(*root["status"]["ready"].boolean_or(true), true);
  EXPECT_TRUE(root["status"]["nodes"].items_or_none()->empty());
  EXPECT_TRUE(root["meta"]["labels"].members_or_none()->empty());
  EXPECT_FALSE(root["status"].exists());
  EXPECT_EQ(message(root["spec"]["priority"].integer<int>()), "spec.priority: required, expected a number");
  EXPECT_EQ(message(root["spec"]["table"].integer<int>()), "spec.table: required, expected a number");
  EXPECT_EQ(message(root["status"]["nodes"]["x"].string()), "status: required, expected a string");
  EXPECT_EQ(message(root["meta"]["name"].string()), "meta: required, expected a string");
}

TEST_F(ReaderTest, a_default_does_not_hide_a_wrong_type) {
  const Value root = parse(R"({"spec":"x","list":{}})");
  EXPECT_EQ(message(root["spec"].integer_or(1)), "spec: expected a number, found a string");
  EXPECT_EQ(message(root["spec"]["table"].integer_or(1)), "spec: expected an object, found a string");
  EXPECT_EQ(message(root["list"].items_or_none()), "list: expected a list, found an object");
}

TEST_F(ReaderTest, numbers_outside_their_type_are_refused_never_cut) {
  const Value root = parse(R"({"a":4294967396,"b":-5,"c":1.5,"d":18446744073709551615,"e":255,"f":1e3})");
  EXPECT_EQ(message(root["a"].integer<std::uint32_t>()),
            "a: expected a whole number from 0 to 4294967295, found 4294967396");
  EXPECT_EQ(message(root["b"].integer<std::uint32_t>()), "b: expected a whole number from 0 to 4294967295, found -5");
  EXPECT_FALSE(root["c"].integer<int>());
  EXPECT_FALSE(root["d"].integer<std::uint64_t>());
  EXPECT_EQ(*root["e"].integer<std::uint8_t>(), 255);
  EXPECT_FALSE(root["f"].integer<int>());
  EXPECT_EQ(message(root["e"].integer_between(1, 100)), "e: expected a whole number from 1 to 100, found 255");
}

TEST_F(ReaderTest, a_repeated_key_is_refused_where_it_is_read) {
  const Value root = parse(R"({"spec":{"table":1,"table":2,"x":3}})");
  EXPECT_EQ(message(root["spec"]["table"].integer<int>()), "spec.table: appears twice");
  EXPECT_EQ(message(root["spec"]["table"].integer_or(5)), "spec.table: appears twice");
  EXPECT_EQ(*root["spec"]["x"].integer<int>(), 3);
  EXPECT_EQ(message(root["spec"].members()), "spec.table: appears twice");
}

TEST_F(ReaderTest, the_whole_text_is_checked_before_anything_is_seen) {
  for (const auto* text : {"", " ", "{", "{}x", "{} {}", "[1,]", "{\"a\":1,}", "{\"a\":01}", "nul", "\"\\x\"", "\"a",
                           "{\"a\":[1,2}}", "\"\xff\"", "{1:2}", "[1e999]", "'a'", "{\"a\" 1}"}) {
    EXPECT_TRUE(error(text).starts_with("not valid JSON: ")) << text;
  }
}

TEST_F(ReaderTest, depth_is_bounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(error(nested(200)), "");
  EXPECT_NE(error(nested(300)), "");
  EXPECT_NE(error(std::string(100'000, '[')), "");
}

TEST_F(ReaderTest, an_object_in_a_list_can_speak_of_its_own_fields) {
  const Value root = parse(R"({"items":[{"spec":{}},{"spec":{"table":"x"}}]})");
  const Value item = root["items"].items()->at(1);
  EXPECT_EQ(message(item["spec"]["table"].integer<int>()), "items[1].spec.table: expected a number, found a string");
  EXPECT_EQ(message(item.as_root()["spec"]["table"].integer<int>()), "spec.table: expected a number, found a string");
  EXPECT_EQ(item.as_root()["spec"].fail("too vague").error().message(), "spec: too vague");
}

TEST_F(ReaderTest, members_come_in_order_without_the_null_ones) {
  const auto members = *parse(R"({"b":1,"a":null,"c\n":2})").members();
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].key, "b");
  EXPECT_EQ(members[1].key, "c\n");
}

TEST_F(ReaderTest, a_reader_serves_many_documents_of_any_size) {
  const std::string large = "[\"" + std::string(3U << 20U, 'x') + "\"]";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(parse(large).items()->front().string()->size(), 3U << 20U);
    EXPECT_EQ(*parse("[1]").items()->front().integer<int>(), 1);
    EXPECT_NE(error("["), "");
  }
}

}  // namespace
}  // namespace json
