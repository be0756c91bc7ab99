#include "cli/page.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(Printable, leaves_text_alone_and_shows_what_a_terminal_would_obey) {
  EXPECT_EQ(printable("203.0.113.45 → eth1 größer"), "203.0.113.45 → eth1 größer");
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("two\nlines\r\t"), "two\\x0alines\\x0d\\x09");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m")
      << "a C1 control is an escape too";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\u202etxt.exe");
}

TEST(Printable, bytes_that_are_no_text_are_shown_as_bytes) {
  EXPECT_EQ(printable("\xff\xc0\x80\xed\xa0\x80"), "\\xff\\xc0\\x80\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
}

TEST(Page, text_from_others_makes_neither_lines_nor_colours) {
  Page page;
  page.put("IPRule/\x1b[2J\nok  all fine", Tone::bad).end_line();
  EXPECT_EQ(page.render({.colour = false}), "IPRule/\\x1b[2J\\x0aok  all fine\n");
  EXPECT_EQ(page.render({.colour = true}), "\x1b[31mIPRule/\\x1b[2J\\x0aok  all fine\x1b[0m\n");
}

TEST(Table, columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks) {
  Table table(2);
  table.row({"NODE", "WHAT", "SINCE"});
  table.row({"worker-1", {"größe", Tone::good}, ""});
  table.row({"w", "", "3m"});
  Page page;
  table.print(page);
  EXPECT_EQ(page.render({}),
            "  NODE      WHAT   SINCE\n"
            "  worker-1  größe\n"
            "  w                3m\n");
}

}  // namespace
}  // namespace cli
