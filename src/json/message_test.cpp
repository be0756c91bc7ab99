#include "json/message.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/message_test.h"
#include "json/reader.h"

namespace json {
namespace {

base::Result<std::string> shout(std::string_view message) {
  if (message == "x") return base::fail(base::Fault::invalid, "no cry");
  return message.empty() ? "" : std::string(bytes_of(message, 1)) + "!";
}

constexpr Schema kPort{field::text(1, "name"), field::number(3, "port")};
constexpr Schema kSpec{field::text(1, "host"), field::texts(2, "ips"),  field::messages(3, "ports", kPort),
                       field::flag(4, "on"),   field::map(5, "labels"), field::words(6, "cry", shout)};
constexpr Schema kThing{field::text(1, "kind"), field::message(2, "spec", kSpec)};

class MessageTest : public testing::Test {
 protected:
  std::string as_json(const WrittenMessage& message) {
    const auto value = reader_.parse(message.bytes(), kThing);
    return value ? value->text() : value.error().message();
  }
  std::string spec_as_json(const WrittenMessage& spec) { return as_json(WrittenMessage().message(2, spec)); }

  Reader reader_;
};

TEST_F(MessageTest, reads_as_the_json_of_the_same_object) {
  WrittenMessage spec;
  spec.text(1, "web").text(2, "10.0.0.1").text(2, "").text(2, "fd00::1");
  spec.message(3, WrittenMessage().text(1, "https").number(3, 443)).message(3, WrittenMessage().number(3, 80));
  spec.number(4, 1).entry(5, "app", "web").entry(5, "tier", "").message(6, WrittenMessage().text(1, "hey"));
  EXPECT_EQ(as_json(WrittenMessage().text(1, "Thing").message(2, spec)),
            R"({"kind":"Thing","spec":{"host":"web","ips":["10.0.0.1","","fd00::1"],)"
            R"("ports":[{"name":"https","port":443},{"port":80}],"on":true,"labels":{"app":"web","tier":""},)"
            R"("cry":"hey!"}})");
}

TEST_F(MessageTest, is_reached_by_name_and_errors_name_the_place) {
  const WrittenMessage message = WrittenMessage().message(2, WrittenMessage().text(2, "a").number(4, 0));
  const Value root = reader_.parse(message.bytes(), kThing).value();
  EXPECT_EQ(*root["spec"]["ips"].items()->front().string(), "a");
  EXPECT_EQ(*root["spec"]["on"].boolean_or(true), false);
  EXPECT_EQ(root["spec"]["ips"].integer<int>().error().message(), "spec.ips: expected a number, found a list");
  EXPECT_EQ(root["spec"]["host"].string().error().message(), "spec.host: required, expected a string");
}

TEST_F(MessageTest, what_json_leaves_out_is_absent) {
  EXPECT_EQ(as_json(WrittenMessage()), "{}");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(1, "").text(6, "")), R"({"spec":{}})");
}

TEST_F(MessageTest, what_the_schema_does_not_name_is_passed_over) {
  WrittenMessage spec;
  spec.number(9, 1).text(2, "a").text(2, "b").text(77, "later").raw(std::string("\x59") + "12345678");  // Fixed, 64.
  spec.raw(std::string("\x65") + "1234");                                                               // Fixed, 32.
  EXPECT_EQ(spec_as_json(spec.text(1, "web")), R"({"spec":{"ips":["a","b"],"host":"web"}})");
}

TEST_F(MessageTest, a_list_in_two_parts_is_no_list) {
  WrittenMessage message = WrittenMessage().message(2, WrittenMessage().text(2, "a").text(1, "web").text(2, "b"));
  const Value root = reader_.parse(message.bytes(), kThing).value();
  EXPECT_EQ(root["spec"]["ips"].items().error().message(), "spec.ips: appears twice");
}

TEST_F(MessageTest, numbers_keep_their_sign) {
  const auto port = [&](std::int64_t value) {
    WrittenMessage spec;
    spec.message(3, WrittenMessage().number(3, static_cast<std::uint64_t>(value)));
    return spec_as_json(spec);
  };
  EXPECT_EQ(port(-1), R"({"spec":{"ports":[{"port":-1}]}})");
  EXPECT_EQ(port(std::numeric_limits<std::int64_t>::min()), R"({"spec":{"ports":[{"port":-9223372036854775808}]}})");
}

TEST_F(MessageTest, a_text_that_is_no_utf8_spoils_nothing_else) {
  EXPECT_EQ(spec_as_json(WrittenMessage().text(1, "gr\xc3\xbc\xc3\x9f")),
            "{\"spec\":{\"host\":\"gr\xc3\xbc\xc3\x9f\"}}");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(1, "a\xff\xc3\xbc").text(2, "b")),
            R"({"spec":{"host":"a???","ips":["b"]}})");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(1, "eight\xff and more")), R"({"spec":{"host":"eight? and more"}})");
}

TEST_F(MessageTest, what_is_no_message_is_an_error_that_names_the_field) {
  EXPECT_EQ(as_json(WrittenMessage().raw("\x0a")), "not a valid message");  // A text without its length,
  EXPECT_EQ(as_json(WrittenMessage().raw("\x0a\x05"
                                         "abc")),
            "not a valid message");                                         // longer than what is there.
  EXPECT_EQ(as_json(WrittenMessage().raw("\x0b")), "not a valid message");  // A group.
  EXPECT_EQ(as_json(WrittenMessage().raw(std::string_view("\0\0", 2))), "not a valid message");  // Field number 0.
  EXPECT_EQ(as_json(WrittenMessage().raw("\x18" + std::string(10, '\xff'))), "not a valid message");
  EXPECT_EQ(as_json(WrittenMessage().number(1, 5)), "kind: not a valid message");
  EXPECT_EQ(as_json(WrittenMessage().text(2, "x")), "spec: not a valid message");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(4, "x")), "spec: on: not a valid message");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(5, "x")), "spec: labels: not a valid message");
  EXPECT_EQ(spec_as_json(WrittenMessage().number(2, 1)), "spec: ips: not a valid message");
  EXPECT_EQ(spec_as_json(WrittenMessage().text(6, "x")), "spec: cry: no cry");
  EXPECT_EQ(spec_as_json(WrittenMessage().message(5, WrittenMessage().number(1, 1))),
            "spec: labels: not a valid message");
  EXPECT_EQ(spec_as_json(WrittenMessage().number(4, 1).raw("\x25"
                                                           "1234")),
            "spec: on: not a valid message");  // Fixed.
}

TEST_F(MessageTest, a_large_one_is_read_whole) {
  const std::string large(3U << 20U, 'x');
  WrittenMessage spec;
  for (int i = 0; i < 20'000; ++i) spec.text(2, std::to_string(i));
  const WrittenMessage message = WrittenMessage().message(2, spec.entry(5, "large", large));
  const Value root = reader_.parse(message.bytes(), kThing).value();
  EXPECT_EQ(*root["spec"]["ips"].items()->back().string(), "19999");
  EXPECT_EQ(root["spec"]["labels"]["large"].string()->size(), large.size());
  EXPECT_EQ(spec_as_json(WrittenMessage().text(1, "small")), R"({"spec":{"host":"small"}})");
}

RC_GTEST_PROP(Message, whatever_comes_is_read_or_refused, (const std::string& bytes)) {
  Reader reader;
  const auto value = reader.parse(bytes, kThing);
  if (value) RC_ASSERT(reader.parse(value->text()).has_value());
}

RC_GTEST_PROP(Message, every_number_is_read_as_it_was_written, (std::uint64_t number)) {
  const WrittenMessage message = WrittenMessage().number(*rc::gen::inRange<std::uint32_t>(1, 1U << 28U), number);
  MessageFields fields(message.bytes());
  RC_ASSERT(fields.next());
  RC_ASSERT(fields.value() == number);
  RC_ASSERT(!fields.next());
  RC_ASSERT(!fields.broken());
}

}  // namespace
}  // namespace json
