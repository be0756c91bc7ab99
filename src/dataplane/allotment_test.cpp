#include "dataplane/allotment.h"

#include <gtest/gtest.h>

namespace dataplane {
namespace {

constexpr std::uint32_t kThreeMarks = 0x300;  // Three marks: 0x100, 0x200, 0x300.

ClassKey class_of(std::uint32_t table) {
  return {.path = {{500, table}}};
}

TEST(Allotment, a_class_keeps_its_mark_and_another_gets_the_lowest_free_one) {
  const Marks marks{.held = {{class_of(1), 0x200}}, .in_use = {0x200}};
  Allotment allotment(marks, kThreeMarks);
  EXPECT_TRUE(allotment.take({class_of(1)}));
  EXPECT_TRUE(allotment.take({class_of(2)}));
  EXPECT_EQ(allotment.mark_of(class_of(1)), 0x200U);
  EXPECT_EQ(allotment.mark_of(class_of(2)), 0x100U);
}

// Packets under way, or rules that are still there, carry it with its old meaning.
TEST(Allotment, a_mark_that_the_kernel_still_refers_to_is_given_to_nobody) {
  const Marks marks{.in_use = {0x100}};
  Allotment allotment(marks, kThreeMarks);
  EXPECT_TRUE(allotment.take({class_of(1)}));
  EXPECT_EQ(allotment.mark_of(class_of(1)), 0x200U);
}

TEST(Allotment, where_there_are_not_enough_none_is_taken) {
  const Marks marks{.in_use = {0x100}};
  Allotment allotment(marks, kThreeMarks);
  EXPECT_FALSE(allotment.take({class_of(1), class_of(2), class_of(3)}));
  EXPECT_TRUE(allotment.taken().empty());
  EXPECT_TRUE(allotment.take({class_of(1), class_of(2)}));
}

}  // namespace
}  // namespace dataplane
