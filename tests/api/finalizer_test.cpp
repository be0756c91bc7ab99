#include "kube/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "meta/meta.h"

namespace api_test {
namespace {

using base::Fault;
using testing::ElementsAre;

constexpr auto kOurs = "example.dev/ours";
constexpr auto kTheirs = "example.dev/theirs";

class FinalizerTest : public ApiTest {
 protected:
  meta::Meta seen(const std::string& name) {
    const std::string body = must(client_->get(kConfigMaps, key(name), soon()));
    json::Reader reader;
    return must(meta::decode_meta(must(reader.parse(body))));
  }
  bool is_gone(const std::string& name) {
    const auto answer = client_->get(kConfigMaps, key(name), soon());
    return !answer && answer.error().fault() == Fault::absent;
  }
  kube::Result<bool> hold(const meta::Meta& object, const char* finalizer = kOurs) {
    return kube::hold(*client_, kConfigMaps, object, finalizer, soon());
  }
  kube::Result<bool> let_go(const meta::Meta& object, const char* finalizer = kOurs) {
    return kube::let_go(*client_, kConfigMaps, object, finalizer, soon());
  }
};

TEST_F(FinalizerTest, an_object_that_is_held_is_gone_only_when_all_have_let_go) {
  ASSERT_OK(put("a", "one"));
  EXPECT_EQ(hold(seen("a"), kTheirs), true);
  EXPECT_EQ(hold(seen("a")), true);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kTheirs, kOurs));
  ASSERT_OK(drop("a"));
  EXPECT_TRUE(seen("a").terminating());
  EXPECT_EQ(let_go(seen("a")), true);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kTheirs));
  const auto last = seen("a");
  EXPECT_EQ(let_go(last, kTheirs), true);
  EXPECT_TRUE(is_gone("a"));
  EXPECT_EQ(let_go(last, kTheirs), false) << "gone is let go";
}

TEST_F(FinalizerTest, where_nothing_would_change_nothing_is_sent) {
  ASSERT_OK(put("a", "one"));
  EXPECT_EQ(let_go(seen("a")), false);
  ASSERT_OK(hold(seen("a")));
  const auto held = seen("a");
  int calls = 0;
  const auto counted = admin();
  counted->observe_calls([&](std::string_view, int, base::Duration) { ++calls; });
  EXPECT_EQ(kube::hold(*counted, kConfigMaps, held, kOurs, soon()), false);
  EXPECT_EQ(kube::let_go(*counted, kConfigMaps, held, kTheirs, soon()), false);
  EXPECT_EQ(calls, 0);
}

TEST_F(FinalizerTest, an_object_that_has_changed_meanwhile_keeps_what_others_wrote) {
  ASSERT_OK(put("a", "one"));
  const auto before = seen("a");
  ASSERT_OK(hold(before, kTheirs));
  EXPECT_EQ(hold(before).error().fault(), Fault::conflict);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kTheirs));
  ASSERT_OK(hold(seen("a")));
  const auto both = seen("a");
  ASSERT_OK(let_go(both, kTheirs));
  EXPECT_EQ(let_go(both).error().fault(), Fault::conflict);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kOurs));
}

TEST_F(FinalizerTest, another_object_of_the_same_name_is_not_touched) {
  ASSERT_OK(put("a", "one"));
  ASSERT_OK(hold(seen("a")));
  const auto first = seen("a");
  ASSERT_OK(let_go(first));
  ASSERT_OK(drop("a"));
  ASSERT_OK(put("a", "two"));
  ASSERT_OK(hold(seen("a")));
  EXPECT_EQ(let_go(first).error().fault(), Fault::conflict);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kOurs));
}

TEST_F(FinalizerTest, what_is_being_deleted_cannot_be_held_any_more) {
  ASSERT_OK(put("a", "one"));
  ASSERT_OK(hold(seen("a"), kTheirs));
  ASSERT_OK(drop("a"));
  EXPECT_EQ(hold(seen("a")).error().fault(), Fault::conflict);
  EXPECT_THAT(seen("a").finalizers, ElementsAre(kTheirs));
  ASSERT_OK(let_go(seen("a"), kTheirs));
}

}  // namespace
}  // namespace api_test
