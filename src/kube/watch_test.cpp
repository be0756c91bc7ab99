#include "kube/watch.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kube/heap_test.h"
#include "kube/message_test.h"

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

constexpr std::size_t kList = 8U << 20U;

TEST(Framer, the_room_of_a_list_is_given_back_before_single_events) {
  const std::size_t before = heap_in_use();
  Framer framer;
  Documents got;
  framer.feed("{\"a\":\"" + std::string(kList, 'x') + "\"}\n");
  ASSERT_TRUE(drain(framer, got));
  ASSERT_EQ(got.size(), 1U);
  got = Documents();
  EXPECT_LT(heap_in_use(), before + kList / 2);
  framer.feed("{\"b\":1}\n");
  ASSERT_TRUE(drain(framer, got));
  EXPECT_EQ(got, Documents{R"({"b":1})"});
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

namespace field = json::field;

constexpr json::Schema kThingMeta{field::text(1, "name"), field::text(3, "namespace"), field::text(5, "uid"),
                                  field::text(6, "resourceVersion")};
constexpr json::Schema kThing{field::message(1, "metadata", kThingMeta), field::text(2, "value")};

json::WrittenMessage thing(std::string_view name, std::string_view version, std::string_view value) {
  return json::WrittenMessage().message(1, meta_message(name, version)).text(2, value);
}

// One line for each event, or the error.
base::Status tell(EventReader& events, std::vector<std::string>& out) {
  json::Reader reader;
  while (const auto event = TRY(events.next(reader))) {
    out.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(event->type), event->identity.key.text(),
                              event->identity.uid, event->identity.version,
                              event->object ? event->object->text() : event->object.error().message()));
  }
  return {};
}

TEST(EventReader, events_are_the_same_as_messages_and_as_json) {
  json::WrittenMessage bookmark;
  bookmark.message(1, json::WrittenMessage().text(6, "14").entry(12, "k8s.io/initial-events-end", "true"));
  json::WrittenMessage status;
  status.text(3, "too old").text(4, "Expired").number(6, 410);
  const std::string messages = event_message("ADDED", "Thing", thing("a", "12", "one")) +
                               event_message("DELETED", "Thing", thing("b", "13", "")) +
                               event_message("BOOKMARK", "Thing", bookmark);
  const std::string texts =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"12"},"value":"one"}}
{"type":"DELETED","object":{"metadata":{"name":"b","namespace":"n","uid":"u-b","resourceVersion":"13"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"14","annotations":{"k8s.io/initial-events-end":"true"}}}}
)";
  std::vector<std::string> from_messages;
  std::vector<std::string> from_texts;
  EventReader as_messages(&kThing);
  as_messages.feed(messages);
  EXPECT_TRUE(tell(as_messages, from_messages));
  EventReader as_texts(&kThing);  // A server may answer in JSON whatever it was asked for.
  as_texts.feed(texts);
  EXPECT_TRUE(tell(as_texts, from_texts));
  EXPECT_EQ(from_messages.size(), 3U);
  EXPECT_EQ(from_messages, from_texts);

  json::Reader reader;
  as_messages.feed(event_message("ERROR", "Status", status));
  const auto error = as_messages.next(reader).value();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status->code, 410);
  EXPECT_EQ(error->status->reason, "Expired");
}

TEST(EventReader, an_object_that_cannot_be_read_is_named_and_ends_no_stream) {
  json::WrittenMessage spoilt;
  spoilt.message(1, meta_message("a", "12")).number(2, 5);
  EventReader events(&kThing);
  events.feed(event_message("MODIFIED", "Thing", spoilt) + event_message("DELETED", "Thing", spoilt) +
              event_message("ADDED", "Thing", thing("b", "13", "one")));
  std::vector<std::string> told;
  EXPECT_TRUE(tell(events, told));
  EXPECT_EQ(told, (std::vector<std::string>{
                      "1 n/a u-a 12 value: not a valid message", "2 n/a u-a 12 value: not a valid message",
                      R"(0 n/b u-b 13 {"metadata":{"name":"b","namespace":"n","uid":"u-b","resourceVersion":"13"},)"
                      R"("value":"one"})"}));
}

RC_GTEST_PROP(EventReader, where_reads_are_cut_messages_does_not_matter, ()) {
  std::string stream;
  std::vector<std::string> wanted;
  for (const std::string name : {"a", "b", "c"}) {
    const auto value = *rc::gen::string<std::string>();
    stream += event_message("MODIFIED", "Thing", thing(name, "7", value));
  }
  EventReader whole(&kThing);
  whole.feed(stream);
  RC_ASSERT(tell(whole, wanted).has_value());
  RC_ASSERT(wanted.size() == 3U);
  EventReader events(&kThing);
  std::vector<std::string> got;
  for (std::string_view rest = stream; !rest.empty();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
    events.feed(rest.substr(0, size));
    RC_ASSERT(tell(events, got).has_value());
    rest.remove_prefix(size);
  }
  RC_ASSERT(got == wanted);
}

TEST(EventReader, what_is_no_event_is_an_error) {
  const auto error = [](std::string_view bytes, const json::Schema* schema = &kThing) {
    EventReader events(schema);
    events.feed(bytes);
    json::Reader reader;
    const auto event = events.next(reader);
    return event ? std::string("none") : event.error().message();
  };
  EXPECT_EQ(error(event_message("MOVED", "Thing", thing("a", "1", ""))), "\"MOVED\" is no type of event");
  EXPECT_LT(error(event_message(std::string(1U << 20U, 'x'), "Thing", {})).size(), 100U);
  EXPECT_EQ(error(event_message("ADDED", "Thing", {})), "metadata: required, expected a string");
  EXPECT_EQ(error(event_message("ADDED", "Thing", thing("a", "x", ""))), "\"x\" is no resource version");
  EXPECT_EQ(error(event_message("ADDED", "Thing", json::WrittenMessage().number(2, 5))), "value: not a valid message");
  EXPECT_EQ(error(framed("garbage")), "not a valid message");
  EXPECT_EQ(error(framed("")), "not a message of an API server");
  EXPECT_EQ(error(std::string("\0\xff\xff\xff", 4)), "none") << "16 MiB are yet to come";
  EXPECT_NE(error(event_message("ADDED", "Thing", thing("a", "1", "")), nullptr), "none") << "nobody asked for that";
}

TEST(MessageFramer, the_room_of_a_list_is_given_back_before_single_events) {
  const std::size_t before = heap_in_use();
  MessageFramer framer;
  framer.feed(framed(std::string(kList, 'x')));
  ASSERT_TRUE(framer.next().value());
  ASSERT_FALSE(framer.next().value());
  EXPECT_LT(heap_in_use(), before + kList / 2);
  framer.feed(framed("y"));
  EXPECT_EQ(framer.next().value(), "y");
}

TEST(MessageFramer, a_message_without_end_is_an_error_in_time) {
  MessageFramer framer(1000);
  framer.feed(framed(std::string(1000, 'x')));
  EXPECT_TRUE(framer.next().value());
  framer.feed(framed(std::string(1001, 'x')).substr(0, 4));
  EXPECT_FALSE(framer.next());
}

}  // namespace
}  // namespace kube
