// A watch whose connection is well and on which nothing comes any more: no ping notices that, only its own deadline.
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "api.h"
#include "kube/reflector.h"
#include "testbed/fault_proxy.h"

namespace api_test {
namespace {

namespace fault = testbed::fault;
using testbed::FaultProxy;

const testbed::CallMatch kWatching{.verb = "watch", .resource = "configmaps"};

class SilentWatchTest : public ApiTest, public testing::WithParamInterface<FaultProxy::Speaks> {
 protected:
  using Values = std::map<std::string, std::string>;

  ~SilentWatchTest() override { stop(); }

  // What a reflector does, with less patience.
  void follow() {
    thread_ =
        std::jthread([this](std::stop_token stop) { kube::run(*through_, kConfigMaps, steps_, std::move(stop)); });
  }
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  std::shared_ptr<const kube::View<std::string>> view() const { return store_.latest(); }
  testing::AssertionResult shows(const Values& wanted) const {
    return testbed::eventually(testing::PrintToString(wanted), kBound, [&] {
      const auto now = view();
      Values out;
      for (const auto& object : now->objects) out[object->key.name] = object->value;
      return now->complete && out == wanted;
    });
  }
  testing::AssertionResult comes(const char* what, const testbed::CallMatch& call, int count) const {
    return testbed::eventually(what, kBound, [&] { return proxy_.calls(call) >= count; });
  }

  kube::Config config_ = must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  FaultProxy proxy_{config_.server, must(config_.tls()), "127.0.0.1", GetParam()};
  std::unique_ptr<kube::Client> through_ = connect(proxy_.kubeconfig());
  runtime::Signal changed_;
  kube::Store<std::string> store_{decode_value, changed_};
  kube::ListWatch steps_{
      {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .watch_time = 2s, .patience = 2s},
      store_,
      1};
  std::jthread thread_;
};

INSTANTIATE_TEST_SUITE_P(Over, SilentWatchTest, testing::Values(FaultProxy::Speaks::http2, FaultProxy::Speaks::http1),
                         [](const auto& which) -> std::string {
                           return which.param == FaultProxy::Speaks::http2 ? "http2" : "http1";
                         });

TEST_P(SilentWatchTest, A7_a_watch_on_which_nothing_comes_is_given_up_after_its_time) {
  ASSERT_OK(put("a", "one"));
  proxy_.inject(kWatching, fault::Freeze());
  follow();
  ASSERT_TRUE(comes("the watch", kWatching, 1));
  ASSERT_TRUE(shows({{"a", "one"}}));
  ASSERT_OK(put("a", "two"));
  ASSERT_TRUE(shows({{"a", "two"}}));
  EXPECT_GE(view()->failures, 1U) << "it has failed: nobody has ended it";
  ASSERT_OK(put("b", "three"));
  EXPECT_TRUE(shows({{"a", "two"}, {"b", "three"}}));
}

TEST_P(SilentWatchTest, A7_a_streamed_list_that_stops_half_way_is_given_up_and_taken_in_pages) {
  for (const std::string name : {"a", "b", "c"}) ASSERT_OK(put(name, "one"));
  const Values before = {{"a", "one"}, {"b", "one"}, {"c", "one"}};
  follow();
  ASSERT_TRUE(shows(before));
  stop();
  ASSERT_OK(put("a", "two"));
  ASSERT_OK(drop("b"));
  const testbed::CallMatch pages{.verb = "list", .resource = "configmaps"};
  const int first_pages = proxy_.calls(pages);
  const std::uint64_t first_failures = view()->failures;
  proxy_.inject(kWatching, fault::Freeze{.after_events = 1});
  steps_.list_again();
  follow();
  ASSERT_TRUE(testbed::eventually("the pages", kBound, [&] {
    EXPECT_GE(view()->objects.size(), 2U) << "half a list is none";
    return proxy_.calls(pages) > first_pages;
  }));
  EXPECT_TRUE(shows({{"a", "two"}, {"c", "one"}}));
  EXPECT_GE(view()->failures, first_failures + 1);
  ASSERT_OK(put("c", "three"));
  EXPECT_TRUE(shows({{"a", "two"}, {"c", "three"}}));
}

}  // namespace
}  // namespace api_test
