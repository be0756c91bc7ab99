#include "kube/page.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kube/message_test.h"

namespace kube {
namespace {

namespace field = json::field;

constexpr json::Schema kItemMeta{field::text(1, "name"), field::text(6, "resourceVersion")};
constexpr json::Schema kItemSpec{field::text(1, "host")};
constexpr json::Schema kItem{field::message(1, "metadata", kItemMeta), field::message(2, "spec", kItemSpec)};

json::WrittenMessage item(std::string_view name) {
  return json::WrittenMessage().message(1, json::WrittenMessage().text(1, name).text(6, "5"));
}

std::string list_message(std::string_view token) {
  json::WrittenMessage list;
  list.message(1, json::WrittenMessage().text(1, "").text(2, "7").text(3, token)).message(2, item("a"));
  return enveloped("ThingList", list.message(2, item("b")));
}

constexpr std::string_view kJson =
    R"({"metadata":{"resourceVersion":"7","continue":"next"},"items":[)"
    R"({"metadata":{"name":"a","resourceVersion":"5"}},{"metadata":{"name":"b","resourceVersion":"5"}}]})";

struct Content {
  std::uint64_t version = 0;
  std::string next;
  std::vector<std::string> objects;
  bool operator==(const Content&) const = default;
};

base::Result<Content> content(std::string_view body, const json::Schema* schema = &kItem) {
  json::Reader reader;
  auto page = TRY(Page::open(body, schema, reader));
  Content out{.version = page.version(), .next = page.next(), .objects = {}};
  const auto take = [&](const Item& item) -> base::Status {
    const std::string& name = item.identity.key.name;
    out.objects.push_back(item.object ? item.object->text() : name + ": " + item.object.error().message());
    return name == "poison" ? (*item.object)["metadata"].fail("poison") : base::Status();
  };
  TRY(page.each(take));
  return out;
}

TEST(Page, is_the_same_as_a_message_and_as_json) {
  const Content wanted{.version = 7,
                       .next = "next",
                       .objects = {R"({"metadata":{"name":"a","resourceVersion":"5"}})",
                                   R"({"metadata":{"name":"b","resourceVersion":"5"}})"}};
  EXPECT_EQ(content(kJson).value(), wanted);
  EXPECT_EQ(content(list_message("next")).value(), wanted);
  EXPECT_EQ(content(list_message("")).value().next, "");
}

TEST(Page, what_is_no_list_is_an_error) {
  const auto error = [](std::string_view body, const json::Schema* schema = &kItem) {
    const auto page = content(body, schema);
    return page ? std::string("none") : page.error().message();
  };
  EXPECT_EQ(error("{}"), "metadata: required, expected a string");
  EXPECT_EQ(error(enveloped("ThingList", {})), "metadata: resourceVersion: required, expected a string");
  EXPECT_EQ(error(R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"x"}}]})"),
            "metadata.resourceVersion: required, expected a string");
  EXPECT_EQ(error(R"({"metadata":{"resourceVersion":"7"},"items":[)"
                  R"({"metadata":{"name":"poison","resourceVersion":"5"}}]})"),
            "metadata: poison");
  EXPECT_EQ(error(std::string("k8s\0\x12\x7f", 6)), "not a valid message");
  EXPECT_NE(error(list_message(""), nullptr).find("not valid JSON"), std::string::npos) << "nobody asked for that";
  json::WrittenMessage zipped;
  zipped.text(2, "x").text(3, "gzip");
  EXPECT_EQ(error(std::string("k8s\0", 4) + zipped.bytes()), "a message in an encoding that nobody has asked for");
}

// Of a kind that a later version of the server writes otherwise, say.
TEST(Page, an_object_that_cannot_be_read_is_named_and_spoils_no_other) {
  const auto objects = [](const json::WrittenMessage& second) {
    json::WrittenMessage list;
    list.message(1, json::WrittenMessage().text(2, "7")).message(2, item("a")).message(2, second);
    const auto found = content(enveloped("ThingList", list.message(2, item("c"))));
    return found ? found->objects : std::vector<std::string>{found.error().message()};
  };
  const auto with_second = [](std::string text) {
    return std::vector<std::string>{R"({"metadata":{"name":"a","resourceVersion":"5"}})", std::move(text),
                                    R"({"metadata":{"name":"c","resourceVersion":"5"}})"};
  };
  EXPECT_EQ(objects(item("b").text(2, "x")), with_second("b: spec: not a valid message"));
  EXPECT_EQ(objects(item("b").number(2, 1)), with_second("b: spec: not a valid message"));
  EXPECT_EQ(objects(item("b").raw("\x12\x7f")), with_second("b: not a valid message"));
  // Whoever is not even named can be put nowhere.
  EXPECT_EQ(objects(json::WrittenMessage().text(2, "x")), std::vector<std::string>{"spec: not a valid message"});
  EXPECT_EQ(objects(json::WrittenMessage().text(1, "x")), std::vector<std::string>{"metadata: not a valid message"});
}

RC_GTEST_PROP(Page, whatever_stands_behind_the_name_of_an_object_the_others_are_read, (const std::string& bytes)) {
  json::WrittenMessage list;
  list.message(1, json::WrittenMessage().text(2, "7")).message(2, item("a")).message(2, item("b").text(2, bytes));
  const auto found = content(enveloped("ThingList", list.message(2, item("c"))));
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->objects.size() == 3U);
  RC_ASSERT(found->objects.back() == R"({"metadata":{"name":"c","resourceVersion":"5"}})");
}

TEST(NextPage, is_told_before_the_objects_or_behind_them) {
  EXPECT_EQ(next_page(R"({"metadata":{"continue":"abc","resourceVersion":"7"},"items":[{"spec":{"continue":"x"}}]})"),
            "abc");
  EXPECT_EQ(next_page(R"({"items":[{"spec":{"continue":"x"}}],"metadata":{"continue":"abc"}})"), "abc");
  EXPECT_EQ(next_page(list_message("abc")), "abc");
}

TEST(NextPage, is_empty_for_a_last_page_and_for_what_is_no_list) {
  EXPECT_EQ(next_page(R"({"metadata":{"resourceVersion":"7"},"items":[{"spec":{"continue":"x"}}]})"), "");
  EXPECT_EQ(next_page(R"({"items":[],"metadata":{"continue":"","resourceVersion":"7"}})"), "");
  EXPECT_EQ(next_page(list_message("")), "");
  EXPECT_EQ(next_page(""), "");
  EXPECT_EQ(next_page(R"("continue":")"), "");
}

}  // namespace
}  // namespace kube
