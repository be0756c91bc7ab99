#include "agent/freshness.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

template <typename T>
std::shared_ptr<const kube::View<T>> view(std::optional<base::Error> trouble = {}) {
  return std::make_shared<const kube::View<T>>(kube::View<T>{.complete = true, .trouble = std::move(trouble)});
}

ClusterSource::Basis basis(std::optional<base::Error> configs = {}, std::optional<base::Error> agents = {}) {
  return {.configs = view<api::PublishedConfig>(std::move(configs)),
          .agents = view<api::Agent>(std::move(agents)),
          .nodes = view<api::Node>(),
          .reports = view<api::NodeState>()};
}

const base::Error kSilence(base::Fault::timeout, "no answer");
const base::Error kRefusal(base::Fault::denied, "403 Forbidden");
constexpr base::TimePoint kFirstSeen(1h);

TEST(Freshness, A11_a_refusal_is_told_at_once_and_forgotten_when_it_ends) {
  Freshness freshness;
  freshness.note(basis(kRefusal), kFirstSeen);
  ASSERT_TRUE(freshness.doubt());
  EXPECT_EQ(freshness.doubt()->reason, "NoAccess");
  EXPECT_TRUE(freshness.doubt()->message.starts_with("ipruleconfigs ")) << freshness.doubt()->message;
  EXPECT_TRUE(freshness.doubt()->message.ends_with("403 Forbidden")) << freshness.doubt()->message;
  freshness.note(basis(), kFirstSeen + 1s);
  EXPECT_FALSE(freshness.doubt());
}

TEST(Freshness, A7_a_silence_is_told_when_it_lasts) {
  Freshness freshness;
  freshness.note(basis(kSilence), kFirstSeen);
  freshness.note(basis(kSilence), kFirstSeen + Freshness::kPatience - 1s);
  EXPECT_FALSE(freshness.doubt());
  EXPECT_EQ(freshness.age(), Freshness::kPatience - 1s);
  freshness.note(basis(kSilence), kFirstSeen + Freshness::kPatience);
  ASSERT_TRUE(freshness.doubt());
  EXPECT_EQ(freshness.doubt()->reason, "Stale");
  freshness.note(basis(), kFirstSeen + 1h);
  EXPECT_EQ(freshness.age(), 0s);
  freshness.note(basis(kSilence), kFirstSeen + 1h);
  EXPECT_FALSE(freshness.doubt()) << "another silence has its own beginning";
}

TEST(Freshness, A11_a_refusal_comes_before_a_silence) {
  Freshness freshness;
  freshness.note(basis(kSilence, kSilence), kFirstSeen);
  freshness.note(basis(kSilence, kRefusal), kFirstSeen + Freshness::kPatience);
  ASSERT_TRUE(freshness.doubt());
  EXPECT_EQ(freshness.doubt()->reason, "NoAccess");
  EXPECT_TRUE(freshness.doubt()->message.starts_with("agents ")) << freshness.doubt()->message;
}

}  // namespace
}  // namespace agent
