#include "json/yaml_writer.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace json {
namespace {

std::string yaml_of(std::string_view json) {
  Reader reader;
  return to_yaml(reader.parse(json).value());
}

TEST(YamlWriter, looks_like_kubectl) {
  EXPECT_EQ(yaml_of(R"({"kind":"Plan","ops":[{"add":"rule 1","priority":1000},{"add":"x"}],"none":[],"empty":{}})"),
            "kind: Plan\n"
            "ops:\n"
            "- add: \"rule 1\"\n"
            "  priority: 1000\n"
            "- add: x\n"
            "none: []\n"
            "empty: {}\n");
}

TEST(YamlWriter, what_could_be_taken_for_something_else_is_quoted) {
  EXPECT_EQ(yaml_of(R"({"a":"yes","b":"10","c":"","d":"a: b","on":true})"),
            "a: \"yes\"\nb: \"10\"\nc: \"\"\nd: \"a: b\"\n\"on\": true\n");
}

TEST(YamlWriter, is_read_back_as_the_same) {
  for (const std::string_view json : {R"({"a":[[1,2],[{"b":{"c":[]}}]],"d":{"e":{"f":"x\ny\u001b"}},"g":1.5,"h":-7})",
                                      R"([1,"two",{"x":[{}]}])", R"("alone")"}) {
    const auto back = from_yaml(yaml_of(json));
    ASSERT_TRUE(back) << back.error().message();
    ASSERT_EQ(back->size(), 1U);
    EXPECT_EQ(back->front(), json);
  }
}

}  // namespace
}  // namespace json
