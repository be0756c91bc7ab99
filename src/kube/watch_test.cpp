#include "kube/watch.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kube {
namespace {

using Documents = std::vector<std::string>;

base::Status drain(Framer& framer, Documents& out) {
  json::Reader reader;
  while (const auto document = TRY(framer.next(reader))) out.push_back(document->text());
  return {};
}

const Documents kDocuments = {R"({"a":1})", R"({"b":"}{\"\\"})", R"({"c":[{},{"d":"}"}]})", R"({})"};

RC_GTEST_PROP(Framer, where_reads_are_cut_does_not_matter, ()) {
  std::string stream;
  for (std::string document : kDocuments) {
    // A line may end within an object, where blanks may stand.
    const auto at = document.find_first_of("{:[", *rc::gen::inRange<std::size_t>(0, document.size()));
    if (at < 5 && *rc::gen::arbitrary<bool>()) document.insert(at + 1, "\n");
    stream += document + *rc::gen::element<std::string>("", "\n", "\r\n \t");
  }
  Framer framer;
  Documents got;
  for (std::string_view rest = stream; !rest.empty();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
    framer.feed(rest.substr(0, size));
    RC_ASSERT(drain(framer, got).has_value());
    rest.remove_prefix(size);
  }
  RC_ASSERT(got == kDocuments);
}

TEST(Framer, a_line_that_ends_within_an_object_is_no_object) {
  for (const std::string text : {"{\n}", "{\"a\":{}\n}", "{\"a\":{}\n,\"b\":[{}\n]}\n"}) {
    Framer framer;
    Documents got;
    framer.feed(text + "{\"c\":1}\n");
    ASSERT_TRUE(drain(framer, got)) << text;
    ASSERT_EQ(got.size(), 2U) << text;
    EXPECT_EQ(got.back(), R"({"c":1})") << text;
  }
}

TEST(Framer, what_is_no_object_is_an_error) {
  for (const char* text : {"x", "]", "\"text\"", "\"text\"\n", "{} 5", "{}5}\n", "{\"a\":}\n", "\x1f\x8b"}) {
    Framer framer;
    Documents got;
    framer.feed(text);
    EXPECT_FALSE(drain(framer, got)) << text;
  }
}

TEST(Framer, an_object_without_end_is_an_error_in_time) {
  Framer framer(1000);
  Documents got;
  framer.feed("{\"a\":\"" + std::string(900, 'x'));
  EXPECT_TRUE(drain(framer, got));
  framer.feed(std::string(200, 'x'));
  EXPECT_FALSE(drain(framer, got));
}

TEST(Event, each_type_is_read) {
  json::Reader reader;
  const auto read = [&](std::string_view text) { return decode_event(*reader.parse(text)); };
  const auto added =
      read(R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"12"}}})");
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_EQ(added->type, Event::Type::added);
  EXPECT_EQ(added->identity.key, (Key{"n", "a"}));
  EXPECT_EQ(added->identity.uid, "u");
  EXPECT_EQ(added->identity.version, 12U);

  const auto bookmark = read(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"13",
      "annotations":{"k8s.io/initial-events-end":"true"}}}})");
  ASSERT_TRUE(bookmark) << bookmark.error().message();
  EXPECT_EQ(bookmark->identity.version, 13U);
  EXPECT_TRUE(bookmark->ends_initial);

  const auto error = read(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");
  ASSERT_TRUE(error) << error.error().message();
  EXPECT_EQ(error->status->code, 410);
}

TEST(Event, errors_name_the_field_of_the_object) {
  json::Reader reader;
  const auto fails = [&](std::string_view text) { return decode_event(*reader.parse(text)).error().message(); };
  EXPECT_NE(fails(R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"x"}}})").find("\"x\""),
            std::string::npos);
  EXPECT_NE(fails(R"({"type":"ADDED","object":{"metadata":{}}})").find("metadata.name"), std::string::npos);
  EXPECT_NE(fails(R"({"type":"MOVED","object":{}})").find("MOVED"), std::string::npos);
  EXPECT_NE(fails(R"({"type":"ADDED"})").find("object"), std::string::npos);
}

}  // namespace
}  // namespace kube
