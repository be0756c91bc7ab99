#include "controller/note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace controller {
namespace {

TEST(Note, says_what_what_to_do_the_page_and_the_epoch) {
  const Note note{.said = "rule 1000 was refused.", .next = "look at n1", .code = "IPR0320", .epoch = 412};
  EXPECT_EQ(note.text(), "rule 1000 was refused; look at n1 (IPR0320), epoch 412");
  EXPECT_EQ(Note{.said = "all of it (IPR0320)"}.text(), "all of it (IPR0320)");
  EXPECT_EQ((Note{.said = "twice IPR0320", .code = "IPR0320"}.text()), "twice IPR0320") << "a code stands there once";
}

TEST(Note, what_does_not_fit_is_cut_where_it_was_said_and_never_in_a_character) {
  for (std::size_t length = 1001; length < 1030; ++length) {
    const Note note{.said = std::string(length, 'x') + "\u00fc\u00fc\u00fc", .next = "do this", .epoch = 7};
    const std::string text = note.text();
    EXPECT_LE(text.size(), 1024U);
    EXPECT_THAT(text, testing::EndsWith("...; do this, epoch 7"));
    EXPECT_FALSE(text.contains("\xc3.")) << "half a character";
  }
}

}  // namespace
}  // namespace controller
