#include "controller/job_loop.h"

#include <atomic>
#include <semaphore>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace controller {
namespace {

using namespace std::chrono_literals;

class JobLoopTest : public testing::Test {
 protected:
  base::Result<kube::Next> look() {
    ++looks_;
    looked_.release();
    if (fails_.exchange(false)) return base::fail(base::Fault::unavailable, "not now");
    return kube::Next::on_change();
  }

  metrics::Registry registry_;
  runtime::Signal changed_;
  std::atomic<int> looks_ = 0;
  std::atomic<bool> fails_ = false;
  std::counting_semaphore<> looked_{0};
  JobLoop loop_{
      {.controller = "ipRule", .old = "iprule"}, changed_, [this](std::stop_token) { return look(); }, registry_};
};

TEST_F(JobLoopTest, it_looks_at_its_start_after_each_change_and_again_after_a_failure) {
  std::jthread thread([&](std::stop_token stop) { loop_.run(std::move(stop)); });
  looked_.acquire();
  fails_ = true;
  changed_.raise();
  looked_.acquire();
  looked_.acquire();  // The one that failed comes again by itself.
  thread.request_stop();
  thread.join();
  EXPECT_EQ(looks_, 3);
  const std::string text = registry_.text();
  EXPECT_THAT(text, testing::HasSubstr("controller_runtime_reconcile_errors_total{controller=\"ipRule\"} 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("workqueue_retries_total{name=\"ipRule\"} 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("controller_runtime_active_workers{controller=\"ipRule\"} 0\n"));
}

TEST_F(JobLoopTest, it_can_be_stopped_while_nothing_happens) {
  std::jthread thread([&](std::stop_token stop) { loop_.run(std::move(stop)); });
  looked_.acquire();
}

}  // namespace
}  // namespace controller
