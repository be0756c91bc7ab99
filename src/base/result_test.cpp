#include "base/result.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace base {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Fault::invalid, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = TRY(half(number));
  return TRY(half(once));
}

Status check(int number) {
  TRY(within("check", quarter(number)));
  return {};
}

TEST(Result, try_gives_the_value_or_returns_the_error) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message(), "odd");
}

TEST(Result, context_is_added_in_front_and_the_fault_is_kept) {
  const Status status = check(6);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "check: odd");
  EXPECT_EQ(status.error().fault(), Fault::invalid);
}

TEST(Result, a_failed_system_call_keeps_its_errno) {
  const Status status = fail_errno("open /x", ENOENT);
  EXPECT_EQ(status.error().fault(), Fault::absent);
  EXPECT_EQ(status.error().errno_value(), ENOENT);
  EXPECT_EQ(status.error().message(), "open /x: No such file or directory");
  EXPECT_EQ(errno_name(EEXIST), "EEXIST");
  EXPECT_EQ(errno_name(4000), "errno 4000");
}

}  // namespace
}  // namespace base
