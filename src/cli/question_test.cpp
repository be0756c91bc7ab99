#include "cli/question.h"

#include <gtest/gtest.h>

#include "cli/answer_document.h"

namespace cli {
namespace {

TEST(Question, travels_as_one_line) {
  const Question question{.about = Question::About::explain,
                          .packet = {.from = "10.244.1.7",
                                     .to = "198.18.7.9",
                                     .iif = "cni0",
                                     .mark = "0x100",
                                     .reply_of = "203.0.113.45",
                                     .proto = "udp",
                                     .sport = 53,
                                     .dport = 4000}};
  const std::string line = encode(question);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(decode_question(line).value(), question);
  EXPECT_EQ(decode_question(R"({"about":"doctor"})").value(), Question());
}

TEST(Question, what_nobody_can_answer_is_named) {
  const auto unknown = decode_question(R"({"about":"weather"})");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "about: \"weather\" is none of doctor, explain");
  EXPECT_FALSE(decode_question("doctor"));
  EXPECT_FALSE(decode_question(R"({"about":"explain","packet":{"dport":70000}})"));
}

TEST(Answer, arrives_as_it_was_found) {
  Answer answer{.page = {}, .json = R"({"kind":"Examination","facts":[]})", .code = ExitCode::attention};
  answer.page.put("  ").put("warn", Tone::warning).put("  rp_filter").end_line().line("1 warning.");
  const std::string text = encode(answer);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto there = decode_answer(text);
  ASSERT_TRUE(there) << there.error().message();
  EXPECT_EQ(there->page.render({.colour = true}), answer.page.render({.colour = true}));
  EXPECT_EQ(there->json, answer.json);
  EXPECT_EQ(there->code, answer.code);
}

TEST(Answer, a_host_that_lies_reaches_no_terminal_raw) {
  const auto answer =
      decode_answer(R"({"code":0,"page":[{"text":"\u001b[2J\nok","tone":"loud"},{"text":"\n"}],"document":{}})");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->page.render({}), "\\x1b[2J\\x0aok\n");
  EXPECT_FALSE(decode_answer(R"({"code":99,"page":[],"document":{}})"));
  EXPECT_FALSE(decode_answer("no JSON"));
}

}  // namespace
}  // namespace cli
