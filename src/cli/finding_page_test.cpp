#include "cli/finding_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/steering.h"

namespace cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(FindingPage, every_code_of_the_data_plane_has_one) {
  for (const std::string_view code : {dataplane::kStrictReversePath, dataplane::kManyRules, dataplane::kNoFreeMark,
                                      dataplane::kProtectedSource, dataplane::kPriorityTooLow}) {
    EXPECT_THAT(finding_codes(), Contains(std::string(code)));
    EXPECT_NE(finding_title(code), "");
  }
}

TEST(FindingPage, every_page_says_meaning_example_cure_and_how_to_silence) {
  for (const std::string& code : finding_codes()) {
    const auto answer = explain_code(code);
    ASSERT_TRUE(answer);
    const std::string text = answer->page.render({});
    EXPECT_THAT(text, testing::StartsWith("# " + code + ": "));
    EXPECT_THAT(text, HasSubstr("Example:\n"));
    EXPECT_THAT(text, HasSubstr("Cure:\n"));
    EXPECT_THAT(text, HasSubstr("Silence:\n"));
  }
}

TEST(FindingPage, an_unknown_code_is_answered_with_the_nearest) {
  EXPECT_TRUE(explain_code("ipr0301"));
  const auto wrong = explain_code("IPR301");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().fault(), base::Fault::invalid);
  EXPECT_EQ(wrong.error().message(), "\"IPR301\" is no code of a finding; did you mean IPR0301?");
}

}  // namespace
}  // namespace cli
