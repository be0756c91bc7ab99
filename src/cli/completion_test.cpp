#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const CommandTree kTree{
    .name = "iprulectl",
    .description = "",
    .flags = {{.name = "--color", .description = "", .takes_value = true, .values = {"auto", "always", "never"}}},
    .commands = {{.name = "explain",
                  .description = "why",
                  .flags = {{.name = "--from", .description = "", .takes_value = true},
                            {.name = "--output", .description = "", .takes_value = true, .values = {"json", "yaml"}}},
                  .words = {"IPR0301", "IPR0310"}},
                 {.name = "doctor", .description = "facts"}}};

std::vector<std::string> words(const std::vector<std::string>& typed) {
  std::vector<std::string> out;
  for (const Candidate& candidate : complete(kTree, typed)) out.push_back(candidate.word);
  return out;
}

TEST(Completion, offers_what_may_stand_there) {
  EXPECT_THAT(words({""}), ElementsAre("explain", "doctor"));
  EXPECT_THAT(words({"do"}), ElementsAre("doctor"));
  EXPECT_THAT(words({"explain", "--"}), ElementsAre("--from", "--output"));
  EXPECT_THAT(words({"explain", "--output", ""}), ElementsAre("json", "yaml"));
  EXPECT_THAT(words({"explain", "--output", "json", "IPR031"}), ElementsAre("IPR0310"));
  EXPECT_THAT(words({"--color", "a"}), ElementsAre("auto", "always"));
}

TEST(Completion, leaves_free_text_to_the_shell) {
  EXPECT_THAT(words({"explain", "--from", ""}), IsEmpty());
  EXPECT_THAT(words({"explain", "--from", "explain"}), IsEmpty()) << "a value is no command";
}

}  // namespace
}  // namespace cli
