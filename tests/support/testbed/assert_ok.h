#pragma once

#include <gtest/gtest.h>

// The test ends here, with the error's words, unless the Result or Status is a success.
#define ASSERT_OK(expression)                        \
  do {                                               \
    const auto& status = (expression);               \
    ASSERT_TRUE(status) << status.error().message(); \
  } while (false)
