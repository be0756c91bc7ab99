#include "meta/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meta {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

Meta held_by(std::vector<std::string> finalizers) {
  Meta out;
  out.finalizers = std::move(finalizers);
  return out;
}

TEST(Finalizer, is_put_after_those_of_others_and_only_once) {
  EXPECT_THAT(with_finalizer(held_by({}), "a/hold"), Optional(ElementsAre("a/hold")));
  EXPECT_THAT(with_finalizer(held_by({"z/theirs", "b/theirs"}), "a/hold"),
              Optional(ElementsAre("z/theirs", "b/theirs", "a/hold")));
  EXPECT_EQ(with_finalizer(held_by({"a/hold", "b/theirs"}), "a/hold"), std::nullopt);
}

TEST(Finalizer, is_taken_from_among_those_of_others_wherever_it_stands) {
  EXPECT_THAT(without_finalizer(held_by({"z/theirs", "a/hold", "b/theirs", "a/hold"}), "a/hold"),
              Optional(ElementsAre("z/theirs", "b/theirs")));
  EXPECT_THAT(without_finalizer(held_by({"a/hold"}), "a/hold"), Optional(IsEmpty()));
  EXPECT_EQ(without_finalizer(held_by({"a/hold-on"}), "a/hold"), std::nullopt);
  EXPECT_EQ(without_finalizer(held_by({}), "a/hold"), std::nullopt);
}

}  // namespace
}  // namespace meta
