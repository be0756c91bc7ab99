#include "base/sha256.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Sha256, known_answers) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("table=100|priority=1000|serviceIP=10.96.1.50|state=present"),
            "39a9616f5befa2f6712d282fa2b962ca19457b0a9d81f098b939cdd7d03a3790");
}

}  // namespace
}  // namespace base
