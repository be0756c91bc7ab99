#include "agent/vanished.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;
using Trust = api::PublishedConfig::Trust;

std::shared_ptr<const Vanished::View> view(const std::vector<std::string>& present,
                                           const std::vector<std::string>& absent = {}, Trust trust = Trust::unhashed) {
  auto out = std::make_shared<Vanished::View>();
  out->complete = true;
  const auto add = [&](const std::string& name, api::ConfigState state) {
    kube::Object<api::PublishedConfig> object{.key = {"", name}, .uid = name, .value = {.name = name}};
    object.value.spec.state = state;
    object.value.trust = trust;
    out->objects.insert(std::make_shared<const kube::Object<api::PublishedConfig>>(std::move(object)));
  };
  for (const auto& name : present) add(name, api::ConfigState::present);
  for (const auto& name : absent) add(name, api::ConfigState::absent);
  return out;
}

class VanishedTest : public testing::Test {
 protected:
  std::vector<std::string> held() const {
    std::vector<std::string> out;
    for (const auto& entry : vanished_.held()) out.push_back(entry->key.name);
    return out;
  }
  using Names = std::vector<std::string>;

  Vanished vanished_;
  base::TimePoint now_{1h};
};

TEST_F(VanishedTest, D5_an_object_that_disappears_counts_for_a_second_more) {
  vanished_.note(view({"a", "b"}), now_);
  EXPECT_EQ(held(), Names{});
  vanished_.note(view({"b"}), now_);
  EXPECT_EQ(held(), Names{"a"});
  EXPECT_EQ(vanished_.next_due(), now_ + 1s);
  const auto same = view({"b"});
  vanished_.note(same, now_ + 999ms);
  EXPECT_EQ(held(), Names{"a"});
  vanished_.note(same, now_ + 1s);
  EXPECT_EQ(held(), Names{});
  EXPECT_FALSE(vanished_.next_due());
}

TEST_F(VanishedTest, one_that_was_withdrawn_is_not_missed) {
  vanished_.note(view({}, {"a"}), now_);
  vanished_.note(view({}), now_);
  EXPECT_EQ(held(), Names{});
}

TEST_F(VanishedTest, D6_one_that_was_set_absent_by_hand_and_then_deleted_is_missed) {
  vanished_.note(view({}, {"a"}, Trust::mismatch), now_);
  vanished_.note(view({}), now_);
  EXPECT_EQ(held(), Names{"a"});
}

TEST_F(VanishedTest, one_made_anew_speaks_for_itself) {
  vanished_.note(view({"a"}), now_);
  vanished_.note(view({}), now_);
  vanished_.note(view({"a"}), now_ + 100ms);
  EXPECT_EQ(held(), Names{});
}

}  // namespace
}  // namespace agent
