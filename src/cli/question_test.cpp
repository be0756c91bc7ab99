#include "cli/question.h"

#include <fmt/format.h>
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
  EXPECT_EQ(encode(decode_question(line).value()), line);
  EXPECT_EQ(decode_question(line)->packet, question.packet);
  EXPECT_EQ(decode_question(R"({"about":"doctor"})")->about, Question::About::doctor);
}

TEST(Question, carries_what_is_wanted_of_the_node_for_who_answers_asks_no_server) {
  Question question{.about = Question::About::diff,
                    .wanted = Assignment{.node = "worker-1", .settings = {}, .configs = {}}};
  question.wanted->settings.labels = {{"site", "eu"}};
  question.wanted->settings.default_priority = 900;
  question.wanted->settings.dataplane = api::Dataplane::marks;
  question.wanted->settings.cluster_prefixes = {net::Prefix::parse("10.244.0.0/16").value()};
  question.wanted->settings.addresses = {net::Address::parse("10.0.0.11").value()};
  question.wanted->configs.resize(1);
  question.wanted->configs[0].meta.name = "iprc-1";
  question.wanted->configs[0].spec.service_ip = "10.96.23.17";
  const std::string line = encode(question);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto there = decode_question(line);
  ASSERT_TRUE(there) << there.error().message();
  EXPECT_EQ(encode(*there), line);
  EXPECT_EQ(there->wanted->settings.dataplane, api::Dataplane::marks);
  EXPECT_EQ(there->wanted->settings.labels.get("site"), "eu");
  EXPECT_EQ(there->wanted->configs, question.wanted->configs);
}

TEST(Question, carries_what_of_a_diff_is_to_be_told) {
  Question question{.about = Question::About::diff,
                    .wanted = Assignment{.node = "worker-1", .settings = {}, .configs = {}},
                    .view = {.classes = {"rule"}, .foreign = true}};
  EXPECT_EQ(decode_question(encode(question))->view, question.view);
  question.view = {};
  EXPECT_EQ(encode(question).find("view"), std::string::npos) << "as agents of before know it";
}

TEST(Question, carries_what_should_work_on_the_node) {
  Question question{.about = Question::About::doctor, .wishes = NodeWishes()};
  question.wishes->rules.resize(1);
  question.wishes->rules[0].meta.name = "public-eu";
  question.wishes->rules[0].spec.table = 100;
  question.wishes->frontends = {{.vip = net::Address::parse("203.0.113.45").value()}};
  const std::string line = encode(question);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto there = decode_question(line);
  ASSERT_TRUE(there) << there.error().message();
  EXPECT_EQ(there->wishes, question.wishes);
}

TEST(Question, packets_are_waited_for_within_bounds) {
  const Question question{.about = Question::About::explain,
                          .packet = {.to = "198.18.7.9"},
                          .live = LiveWish{.packets = 3, .patience = std::chrono::seconds(20)}};
  EXPECT_EQ(decode_question(encode(question))->live, question.live);
  const auto live = [](const char* wish) {
    return decode_question(fmt::format(R"({{"about":"explain","packet":{{"to":"::1"}},"live":{}}})", wish));
  };
  EXPECT_TRUE(live(R"({"packets":100,"seconds":600})"));
  EXPECT_FALSE(live(R"({"packets":101,"seconds":10})"));
  EXPECT_FALSE(live(R"({"packets":0,"seconds":10})"));
  EXPECT_FALSE(live(R"({"packets":1,"seconds":601})"));
}

TEST(Question, a_diff_with_nothing_is_refused) {
  EXPECT_EQ(decode_question(R"({"about":"plan"})").error().message(), "wanted: a plan needs something to compare");
  EXPECT_EQ(decode_question(R"({"about":"diff"})").error().message(), "wanted: a diff needs something to compare");
  EXPECT_EQ(decode_question(R"({"about":"diff","wanted":{"node":"a","dataplane":"magic"}})").error().message(),
            "wanted.dataplane: \"magic\" is none of auto, rules, marks");
}

TEST(Question, what_nobody_can_answer_is_named) {
  const auto unknown = decode_question(R"({"about":"weather"})");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "about: \"weather\" is none of doctor, explain, diff, plan");
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
