#include "cli/progress.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(Progress, says_how_far_it_has_come_and_never_wraps) {
  EXPECT_EQ(progress_line("nodes", 412, 1000, 80), "[########------------] nodes 412/1000");
  EXPECT_EQ(progress_line("nodes", 1000, 1000, 80), "[####################] nodes 1000/1000");
  EXPECT_EQ(progress_line("nodes", 0, 0, 80), "nodes 0") << "of how many nobody knows";
  EXPECT_EQ(progress_line("nodes", 412, 1000, 25), "[########------------] no");
}

}  // namespace
}  // namespace cli
