#include "json/writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/reader.h"

namespace json {
namespace {

TEST(Writer, nested_values_are_separated_and_closed) {
  const std::string text = object([](Object& out) {
    out.put("name", "a\"b\\c\n\x01");
    out.put("on", true);
    out.put("table", 4294967295U);
    out.put("least", std::int64_t{-7});
    out.put_unless_empty("priority", 0U);
    out.put_unless_empty("vrf", std::string());
    out.put_unless_empty("reason", std::string_view("x"));
    out.put_null("gone");
    out.put_json("raw", "[1]");
    out.object("empty", [](Object&) {});
    out.array("list", [](Array& list) {
      list.put("x");
      list.put(3);
      list.object([](Object& item) { item.put("a", 1); });
    });
  });
  EXPECT_EQ(text, R"({"name":"a\"b\\c\n\u0001","on":true,"table":4294967295,"least":-7,"reason":"x","gone":null,)"
                  R"("raw":[1],"empty":{},"list":["x",3,{"a":1}]})");
}

TEST(Writer, bytes_that_are_not_utf8_become_the_replacement_character) {
  for (const auto* text :
       {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff", "\xf0\x80\x80\x80"}) {
    std::string out;
    base::append_json_string(out, text);
    EXPECT_TRUE(out.starts_with("\"\xef\xbf\xbd")) << testing::PrintToString(text);
    EXPECT_TRUE(Reader().parse(out)) << testing::PrintToString(text);
  }
}

RC_GTEST_PROP(Writer, every_string_of_bytes_gives_valid_json, (const std::string& bytes)) {
  std::string out;
  base::append_json_string(out, bytes);
  RC_ASSERT(Reader().parse(out).has_value());
}

RC_GTEST_PROP(Writer, every_string_of_characters_survives_the_round_trip, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("\"", "\\", "/", "\b", "\f", "\n", "\r", "\t", std::string(1, '\0'), "\x1f", "\x7f",
                                    "a", "ä", "€", "😀", "\xef\xbf\xbf", "\u2028", "{", "\\u0041"));
  std::string original;
  for (const auto& piece : pieces) original += piece;
  std::string out;
  base::append_json_string(out, original);
  Reader reader;
  RC_ASSERT(*reader.parse(out)->string() == original);
}

}  // namespace
}  // namespace json
