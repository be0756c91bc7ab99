#include "base/nearest_word.h"

#include <vector>

#include <gtest/gtest.h>

namespace base {
namespace {

const std::vector<std::string> kCommands = {"status", "plan", "diff", "explain", "doctor", "--kubeconfig"};

TEST(NearestWord, a_slip_of_the_finger_is_understood) {
  EXPECT_EQ(nearest_word("statsu", kCommands), "status");
  EXPECT_EQ(nearest_word("explan", kCommands), "explain");
  EXPECT_EQ(nearest_word("plam", kCommands), "plan");
  EXPECT_EQ(nearest_word("--kubeconfg", kCommands), "--kubeconfig");
}

TEST(NearestWord, a_word_that_ends_early_is_understood_where_only_one_begins_so) {
  EXPECT_EQ(nearest_word("--kube", kCommands), "--kubeconfig");
  EXPECT_EQ(nearest_word("--kube", std::vector<std::string>{"--kubeconfig", "--kubernetes"}), "");
  EXPECT_EQ(nearest_word("exp", kCommands), "") << "hardly typed at all";
}

TEST(NearestWord, another_word_is_not_guessed_at) {
  EXPECT_EQ(nearest_word("bundle", kCommands), "");
  EXPECT_EQ(nearest_word("", kCommands), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), kCommands), "");
}

}  // namespace
}  // namespace base
