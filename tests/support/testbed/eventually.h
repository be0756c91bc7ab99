#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace testbed {

// Waits for a fact: true as soon as `fact` holds, a failure that names `what` if it does not within `bound`. A check
// costs little or waits by itself; between two checks there is a short pause. Use it where nothing can be blocked on:
//
//   EXPECT_TRUE(testbed::eventually("the rule is gone", 5s, [&] { return rules().empty(); }));
testing::AssertionResult eventually(std::string_view what, base::Duration bound, const std::function<bool()>& fact);

}  // namespace testbed
