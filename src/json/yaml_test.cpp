#include "json/yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/reader.h"
#include "json/writer.h"

namespace json {
namespace {

std::string one(std::string_view yaml) {
  const auto documents = from_yaml(yaml);
  if (!documents) return documents.error().message();
  return documents->size() == 1 ? documents->front() : "not one document";
}

TEST(Yaml, a_manifest_becomes_json) {
  EXPECT_EQ(one("apiVersion: v1\n"
                "kind: IPRule  # comment\n"
                "metadata: {name: uplink-blue}\n"
                "spec:\n"
                "  cidrs:\n"
                "  - \"203.0.113.0/24\"\n"
                "  - 2001:db8:77::/64\n"
                "  table: 120\n"
                "  empty:\n"),
            R"({"apiVersion":"v1","kind":"IPRule","metadata":{"name":"uplink-blue"},)"
            R"("spec":{"cidrs":["203.0.113.0/24","2001:db8:77::/64"],"table":120,"empty":null}})");
}

TEST(Yaml, documents_are_separated_and_empty_ones_left_out) {
  const auto documents = *from_yaml("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n");
  EXPECT_EQ(documents, (std::vector<std::string>{R"({"a":1})", R"({"b":2})"}));
  EXPECT_TRUE(from_yaml("")->empty());
  EXPECT_TRUE(from_yaml("# only words\n")->empty());
}

TEST(Yaml, plain_scalars_mean_what_kubectl_takes_them_for) {
  EXPECT_EQ(one("[12, -7, +3, 0x1f, 0o17, 017, 1.5, -2e3, 1_000, 1.2.3.4, 0, -0]"),
            R"([12,-7,3,31,15,15,1.5,-2000,"1_000","1.2.3.4",0,0])");
  EXPECT_EQ(one("[true, False, yes, NO, on, Off, y, null, ~, Null]"),
            "[true,false,true,false,true,false,true,null,null,null]");
  EXPECT_EQ(one(R"(["12", 'true', "no", !!str 12, .inf, .nan, 1e999, 12:30, e5, '.', -x, 2026-01-01])"),
            R"(["12","true","no","12",".inf",".nan","1e999","12:30","e5",".","-x","2026-01-01"])");
  EXPECT_EQ(one("a: |\n  x\n  y\nb: >-\n  x\n  y\n"), R"({"a":"x\ny\n","b":"x y"})");
  EXPECT_EQ(one("{1: a, true: b}"), R"({"1":"a","true":"b"})");
}

TEST(Yaml, json_is_read_as_it_is) {
  EXPECT_EQ(one(R"({"a":[1,2,{"b":"\u20ac\n"}],"c":null})"), "{\"a\":[1,2,{\"b\":\"€\\n\"}],\"c\":null}");
}

TEST(Yaml, anchors_and_merge_keys_are_resolved) {
  EXPECT_EQ(one("a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  l: 2\n"), R"({"a":{"k":1},"b":{"k":1},"c":{"l":2,"k":1}})");
  EXPECT_EQ(one("a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc:\n  k: 0\n  <<: [*x, *y]\n"),
            R"({"a":{"k":1},"b":{"k":2,"m":3},"c":{"k":0,"m":3}})");
  EXPECT_EQ(one("a: &x 1\n<<: *x\n"), "2:6: << takes a mapping or a list of mappings");
}

TEST(Yaml, errors_name_line_and_column) {
  EXPECT_EQ(one("spec:\n  table: 1\n  table: 2\n"), "3:3: duplicate key");
  EXPECT_EQ(one("a: [1, 2\nb: 3\n").substr(0, 2), "3:");
  EXPECT_EQ(one("a: 1\n---\nb: *nowhere\n").substr(0, 2), "3:");
  EXPECT_NE(one("\ta: 1").find("1:"), std::string::npos);
  EXPECT_NE(one("? [a]\n: 1\n").find("key"), std::string::npos);
}

TEST(Yaml, a_field_is_found_in_the_text) {
  constexpr std::string_view kText =
      "# two documents\n---\nkind: A\n---\nmetadata: {name: x}\nspec:\n  table: lots\n  cidrs:\n  - 10.0.0.0/8\n"
      "  - a: 1\n    \"b.c/d\": [7]\n";
  EXPECT_EQ(locate(kText, 0, "kind"), (Place{3, 7}));
  EXPECT_EQ(locate(kText, 1, "metadata.name"), (Place{5, 18}));
  EXPECT_EQ(locate(kText, 1, "spec.table"), (Place{7, 10}));
  EXPECT_EQ(locate(kText, 1, "spec.cidrs"), (Place{8, 3}));
  EXPECT_EQ(locate(kText, 1, "spec.cidrs[0]"), (Place{9, 5}));
  EXPECT_EQ(locate(kText, 1, R"(spec.cidrs[1]["b.c/d"][0])"), (Place{11, 15}));
  EXPECT_EQ(locate(kText, 1, "spec.priority"), (Place{6, 1})) << "not there: the nearest one above";
  EXPECT_EQ(locate(kText, 1, "status.x"), (Place{5, 1})) << "not even that: the document";
  EXPECT_EQ(locate(kText, 2, "kind"), std::nullopt);
}

TEST(Yaml, anchors_cannot_blow_up_the_document) {
  for (const std::string_view form : {"[{}]", "{{<<: [{}]}}"}) {
    std::string bomb = "a0: &a0 {k: 1}\n";
    for (int i = 1; i <= 9; ++i) {
      std::string ten = fmt::format("*a{}", i - 1);
      for (int j = 1; j < 10; ++j) ten += fmt::format(",*a{}", i - 1);
      bomb += fmt::format("a{0}: &a{0} {1}\n", i, fmt::format(fmt::runtime(form), ten));
    }
    EXPECT_NE(one(bomb).find("the document is too large"), std::string::npos) << form;
  }
  EXPECT_FALSE(from_yaml("a: &a [*a]\n"));
  EXPECT_FALSE(from_yaml("a: &a {<<: *a}\n"));
}

RC_GTEST_PROP(Yaml, every_json_string_survives_yaml, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("\"", "\\", "\n", "\t", ":", "#", "'", "-", " ", "é", "😀", "{", "]", "no", "1"));
  std::string original;
  for (const auto& piece : pieces) original += piece;
  const std::string json = object([&](Object& out) { out.put("k", original); });
  const auto documents = from_yaml(json);
  RC_ASSERT(documents.has_value());
  Reader reader;
  RC_ASSERT(*reader.parse(documents->at(0)).value()["k"].string() == original);
}

TEST(Yaml, text_that_is_not_utf8_is_refused_and_hangs_nothing) {
  for (const auto* text : {"a: \xd0o", "%%%4\xd0o"}) {
    const auto documents = from_yaml(text);
    ASSERT_FALSE(documents);
    EXPECT_EQ(documents.error().message(), "not UTF-8 text");
  }
}

TEST(Yaml, a_number_too_low_for_an_integer_is_a_decimal) {
  EXPECT_EQ(from_yaml("-9999999999999999990").value().at(0), "-1e+19");
  EXPECT_EQ(from_yaml("-9223372036854775808").value().at(0), "-9223372036854775808");
}

}  // namespace
}  // namespace json
