#include "cli/answer.h"

#include <gtest/gtest.h>

#include "json/reader.h"

namespace cli {
namespace {

// As a document they may be anywhere a string is; a terminal must not obey them all the same.
TEST(Answer, characters_that_a_terminal_obeys_are_spelled_out_in_documents) {
  const std::string name = "a\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8 \xc3\xa4\xe2\x82\xac";
  const Answer answer{.page = {}, .json = R"({"name":")" + name + R"("})"};
  const std::string document = render(answer, Output::json, {});
  EXPECT_EQ(document, "{\"name\":\"a\\u007f\\u009b\\u202e\\u2066\\u2028 \xc3\xa4\xe2\x82\xac\"}\n");
  EXPECT_EQ(render(answer, Output::yaml, {}), "name: \"a\\u007f\\u009b\\u202e\\u2066\\u2028 \xc3\xa4\xe2\x82\xac\"\n");
  json::Reader reader;
  EXPECT_EQ(reader.parse(document).value()["name"].string().value(), name) << "it is the same document";
}

}  // namespace
}  // namespace cli
