#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "testbed/process.h"

// A program with its arguments, to its end.
inline testbed::Finished run(std::vector<std::string> arguments) {
  const auto done = testbed::run({.arguments = std::move(arguments)}, std::chrono::seconds(30));
  EXPECT_TRUE(done) << done.error().message();
  return done.value_or(testbed::Finished());
}
