#include "dataplane/backend.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dataplane {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kNow{100h};
constexpr Decision kRules{.backend = Backend::rules};
constexpr Decision kMarks{.backend = Backend::marks};

TEST(Backend, automatic_turns_to_marks_above_one_bound_and_back_below_another) {
  const auto next = [](Decision present, std::size_t sources) {
    return choose_backend(Mode::automatic, present, sources, kNow).decision.backend;
  };
  EXPECT_EQ(next(kRules, 256), Backend::rules);
  EXPECT_EQ(next(kRules, 257), Backend::marks);
  EXPECT_EQ(next(kMarks, 192), Backend::marks);
  EXPECT_EQ(next(kMarks, 191), Backend::rules);
}

TEST(Backend, second_switch_waits_ten_minutes_and_says_until_when) {
  const Decision fresh{.backend = Backend::marks, .switched = kNow - 9min};
  const Choice waits = choose_backend(Mode::automatic, fresh, 0, kNow);
  EXPECT_EQ(waits.decision, fresh);
  EXPECT_EQ(waits.look_again, kNow + 1min);

  const Choice goes = choose_backend(Mode::automatic, fresh, 0, kNow + 1min);
  EXPECT_EQ(goes.decision, (Decision{.backend = Backend::rules, .switched = kNow + 1min}));
  EXPECT_EQ(goes.look_again, std::nullopt);
}

TEST(Backend, what_was_asked_for_does_not_wait) {
  const Decision fresh{.backend = Backend::marks, .switched = kNow};
  EXPECT_EQ(choose_backend(Mode::rules, fresh, 5000, kNow).decision.backend, Backend::rules);
  EXPECT_EQ(choose_backend(Mode::marks, kRules, 0, kNow).decision.backend, Backend::marks);
}

RC_GTEST_PROP(Backend, any_history_has_at_most_one_switch_in_ten_minutes, ()) {
  base::TimePoint now = kNow;
  Decision decision;
  std::optional<base::TimePoint> last;
  for (int i = 0; i < 50; ++i) {
    now += std::chrono::seconds(*rc::gen::inRange(0, 400));
    const auto sources = static_cast<std::size_t>(*rc::gen::inRange(150, 300));
    const Decision next = choose_backend(Mode::automatic, decision, sources, now).decision;
    if (next.backend != decision.backend) {
      RC_ASSERT(!last || now - *last >= kBetweenSwitches);
      last = now;
    }
    decision = next;
  }
}

}  // namespace
}  // namespace dataplane
