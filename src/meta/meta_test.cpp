#include "meta/meta.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/message_test.h"

namespace meta {
namespace {

constexpr std::string_view kObject = R"({
  "kind": "IPRuleConfig",
  "metadata": {
    "name": "iprc-10-96-44-9", "namespace": "shop", "uid": "u1", "resourceVersion": "41", "generation": 3,
    "creationTimestamp": "2026-01-31T10:00:00Z", "deletionTimestamp": "2026-02-01T00:00:00Z",
    "labels": {"managed-by": "ip-rule-operator", "a": "b"}, "annotations": {"x/y": "z"},
    "ownerReferences": [{"apiVersion": "g/v1", "kind": "IPRule", "name": "blue", "uid": "u2", "controller": true}],
    "finalizers": ["f"], "managedFields": [{"manager": "kubectl"}]}})";

TEST(Meta, is_read_whole) {
  json::Reader reader;
  const Meta meta = decode_meta(*reader.parse(kObject)).value();
  EXPECT_EQ(full_name(meta), "shop/iprc-10-96-44-9");
  EXPECT_EQ(meta.resource_version, "41");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(format_time(meta.created), "2026-01-31T10:00:00Z");
  EXPECT_TRUE(meta.terminating());
  EXPECT_EQ(meta.labels, (Labels{{"managed-by", "ip-rule-operator"}, {"a", "b"}}));
  ASSERT_EQ(meta.owners.size(), 1U);
  EXPECT_TRUE(meta.owners[0].controller);
  EXPECT_EQ(meta.finalizers, std::vector<std::string>{"f"});
}

TEST(Meta, keeps_only_what_is_asked_for) {
  json::Reader reader;
  const Meta meta = decode_meta(*reader.parse(kObject), Keep::identity()).value();
  EXPECT_EQ(meta.uid, "u1");
  EXPECT_TRUE(meta.labels.empty() && meta.annotations.empty() && meta.owners.empty() && meta.finalizers.empty());
}

TEST(Meta, what_is_written_can_be_read_again) {
  json::Reader reader;
  Meta meta = decode_meta(*reader.parse(kObject)).value();
  const std::string text = json::object([&](json::Object& out) { encode_meta(out, meta); });
  meta.generation = 0;  // These three are the server's to set.
  meta.created = meta.deleted = Time();
  EXPECT_EQ(decode_meta(*reader.parse(text)).value(), meta);
}

TEST(Meta, is_the_same_from_a_message) {
  using json::WrittenMessage;
  const auto time = [](std::uint64_t seconds) { return WrittenMessage().number(1, seconds).number(2, 0); };
  WrittenMessage owner;
  owner.text(1, "IPRule").text(3, "blue").text(4, "u2").text(5, "g/v1").number(6, 1);
  WrittenMessage meta;
  meta.text(1, "iprc-10-96-44-9").text(2, "").text(3, "shop").text(5, "u1").text(6, "41").number(7, 3);
  meta.message(8, time(1'769'853'600)).message(9, time(1'769'904'000)).entry(11, "a", "b");
  meta.entry(11, "managed-by", "ip-rule-operator").entry(12, "x/y", "z").message(13, owner).text(14, "f").text(17, "m");
  constexpr json::Schema kObjectMessage{json::field::message(1, "metadata", kMetaMessage)};
  const auto read = [&](const WrittenMessage& of) {
    json::Reader reader;
    return decode_meta(*reader.parse(WrittenMessage().message(1, of).bytes(), kObjectMessage)).value();
  };
  json::Reader reader;
  EXPECT_EQ(read(meta), decode_meta(*reader.parse(kObject)).value());
  EXPECT_EQ(read(WrittenMessage().text(1, "a").message(8, {})).created, Time());
  EXPECT_EQ(read(WrittenMessage().text(1, "a").message(8, time(0))).created, Time());
  // An object that is to go must not look as if it were to stay.
  const WrittenMessage garbage = WrittenMessage().text(1, "a").message(9, WrittenMessage().raw("\x08"));
  EXPECT_EQ(reader.parse(WrittenMessage().message(1, garbage).bytes(), kObjectMessage).error().message(),
            "metadata: deletionTimestamp: not a valid time");
}

// `kubectl delete --grace-period=9999999999` makes one in 1758.
TEST(Meta, however_far_away_the_time_at_which_an_object_is_to_go_it_is_to_go) {
  constexpr json::Schema kObjectMessage{json::field::message(1, "metadata", kMetaMessage)};
  const auto deleted = [&](std::int64_t seconds) {
    json::WrittenMessage time;
    time.number(1, static_cast<std::uint64_t>(seconds)).number(2, 0);
    const auto object = json::WrittenMessage().message(1, json::WrittenMessage().text(1, "a").message(9, time));
    json::Reader reader;
    const auto value = reader.parse(object.bytes(), kObjectMessage);
    if (!value) return value.error().message();
    const auto meta = decode_meta(*value);
    return meta && meta->terminating() ? format_time(meta->deleted) : std::string("to stay");
  };
  EXPECT_EQ(deleted(-6'677'019'274), "1758-05-31T16:25:26Z");
  EXPECT_EQ(deleted(-1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(deleted(253'402'300'799), "9999-12-31T23:59:59Z");
  EXPECT_EQ(deleted(-62'135'596'799), "0001-01-01T00:00:01Z");
  EXPECT_EQ(deleted(-62'135'596'800), "to stay") << "in Go that is no time";
  EXPECT_EQ(deleted(253'402'300'800), "9999-12-31T23:59:59Z") << "the last that can be written";
  EXPECT_EQ(deleted(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
  EXPECT_EQ(deleted(std::numeric_limits<std::int64_t>::min()), "0001-01-01T00:00:01Z");
}

TEST(Meta, errors_name_the_field) {
  json::Reader reader;
  const auto error = [&](std::string_view text) { return decode_meta(*reader.parse(text)).error().message(); };
  EXPECT_EQ(error(R"({"metadata":{}})"), "metadata.name: required, expected a string");
  EXPECT_EQ(error(R"({"metadata":{"name":"a","labels":{"x/y":1}}})"),
            R"(metadata.labels["x/y"]: expected a string, found a number)");
  EXPECT_EQ(error(R"({"metadata":{"name":"a","creationTimestamp":"today"}})"),
            "metadata.creationTimestamp: \"today\" is not a time such as 2026-01-31T10:00:00Z");
}

TEST(Labels, are_a_sorted_map) {
  Labels labels{{"b", "1"}, {"a", "2"}, {"cleanup/x", ""}, {"cleanup/y", ""}};
  labels.set("b", "3");
  EXPECT_EQ(labels.get("b"), "3");
  EXPECT_EQ(labels.get("nothing"), "");
  EXPECT_EQ(labels.erase_prefix("cleanup/"), 2U);
  EXPECT_TRUE(labels.erase("a"));
  EXPECT_FALSE(labels.erase("a"));
  EXPECT_EQ(labels.text(), "b=3");
}

TEST(Labels, a_selector_matches_when_every_pair_is_there) {
  const Labels node{{"os", "linux"}, {"zone", "a"}};
  EXPECT_TRUE(Labels().matches(node));
  EXPECT_TRUE((Labels{{"zone", "a"}}).matches(node));
  EXPECT_FALSE((Labels{{"zone", "a"}, {"rack", "1"}}).matches(node));
  EXPECT_FALSE((Labels{{"zone", "b"}}).matches(node));
}

TEST(LabelSelector, expressions_follow_kubernetes) {
  json::Reader reader;
  const auto matches = [&](std::string_view expression, const Labels& labels) {
    const std::string text = R"({"matchLabels":{"os":"linux"},"matchExpressions":[)" + std::string(expression) + "]}";
    return LabelSelector::decode(*reader.parse(text)).value().matches(labels);
  };
  const Labels in_a{{"os", "linux"}, {"zone", "a"}};
  const Labels nowhere{{"os", "linux"}};
  EXPECT_TRUE(matches(R"({"key":"zone","operator":"In","values":["a","b"]})", in_a));
  EXPECT_FALSE(matches(R"({"key":"zone","operator":"In","values":["a","b"]})", nowhere));
  EXPECT_FALSE(matches(R"({"key":"zone","operator":"NotIn","values":["a"]})", in_a));
  EXPECT_TRUE(matches(R"({"key":"zone","operator":"NotIn","values":["a"]})", nowhere));
  EXPECT_TRUE(matches(R"({"key":"zone","operator":"Exists"})", in_a));
  EXPECT_TRUE(matches(R"({"key":"zone","operator":"DoesNotExist"})", nowhere));
  EXPECT_FALSE(matches(R"({"key":"zone","operator":"Exists"})", Labels{{"zone", "a"}}));  // os is missing.
  EXPECT_FALSE(LabelSelector::decode(*reader.parse(R"({"matchExpressions":[{"key":"a","operator":"Is"}]})")));
}

TEST(Time, offsets_and_fractions_are_understood) {
  EXPECT_EQ(format_time(*parse_time("2026-01-31T10:00:00.123456Z")), "2026-01-31T10:00:00Z");
  EXPECT_EQ(format_time(*parse_time("2026-01-31T00:30:00+01:30")), "2026-01-30T23:00:00Z");
  EXPECT_EQ(format_time(*parse_time("2026-01-31T23:30:00-01:00")), "2026-02-01T00:30:00Z");
  for (const auto* text : {"", "2026", "2026-02-30T00:00:00Z", "2026-01-31 10:00:00Z", "2026-01-31T25:00:00Z",
                           "2026-01-31T10:00:00", "2026-01-31T10:00:00.Z", "2026-01-31T10:00:00Zx",
                           "2026-01-31T10:00:00+1:00", "2026-01-31T10:00:00+01:00x", "-026-01-31T10:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

RC_GTEST_PROP(Time, every_second_survives_its_text, ()) {
  const Time time(std::chrono::seconds(*rc::gen::inRange<std::int64_t>(-62'135'596'800, 253'402'300'800)));
  RC_ASSERT(*parse_time(format_time(time)) == time);
}

}  // namespace
}  // namespace meta
