// One netlink call of the agent fails, each of them in turn, as calls do of a kernel that is short of something: the
// agent says so or gets over it, harms nobody, and comes to the same end as if nothing had happened.
#include <array>
#include <cerrno>
#include <cstring>

#include <gmock/gmock.h>

#include "testbed/eventually.h"
#include "tests/kernel/traced_agent.h"

namespace {

using testing::HasSubstr;

struct Refusal {
  Point point;
  int error = 0;

  std::string text() const { return fmt::format("{}:error={}:when={}", point.call, name(), point.number); }
  const char* name() const { return ::strerrorname_np(error); }
};

constexpr std::array kErrors = {EINTR, EAGAIN, ENOBUFS, ENOMEM, EPERM};

// One error for each call, in turns; all pairs would take an hour.
std::vector<Refusal> refusals(const std::vector<Point>& points) {
  std::vector<Refusal> out;
  const auto some = selected(points, kErrors.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    out.push_back({some[i], kErrors.at((i + points.size()) % kErrors.size())});  // Other turns in each workload.
  }
  return out;
}

class RefusedCalls : public TracedAgent {
 protected:
  std::vector<std::string> refusing(const Refusal& refusal) {
    return {"-e", "trace=" + refusal.point.call, "-e", "inject=" + refusal.text()};
  }
  // A last call may depend on the moment.
  bool was_refused() const {
    return base::read_file(traces_ / "trace").value().find("(INJECTED)") != std::string::npos;
  }

  static std::string everybody_elses() {
    return run("(ip rule; ip -6 rule; ip route show table all) | grep -v 'proto 183'; nft list table inet other");
  }
};

TEST_P(RefusedCalls, F10_one_call_that_fails_is_told_or_got_over_and_the_next_start_finishes) {
  const auto all = refusals(points());
  ASSERT_FALSE(all.empty());
  const std::string wanted = everything();
  int refused = 0;
  int told = 0;
  for (const Refusal& refusal : all) {
    SCOPED_TRACE(refusal.text());
    start_anew();
    const std::string others = everybody_elses();
    ask_for(GetParam().after);
    const auto done = trace(refusing(refusal));
    ASSERT_EQ(done.exit.signal, 0) << done.exit.text();
    EXPECT_EQ(everybody_elses(), others);
    if (done.exit.ok()) {
      EXPECT_EQ(everything(), wanted) << "what it calls done is done";
    } else {
      EXPECT_THAT(done.errors, HasSubstr(std::strerror(refusal.error)));  // NOLINT(concurrency-mt-unsafe)
    }
    refused += was_refused() ? 1 : 0;
    told += done.exit.ok() ? 0 : 1;
    apply(GetParam().after);
    ASSERT_EQ(everything(), wanted);
  }
  fmt::print("{} calls refused, {} of them told as the end of the pass\n", refused, told);
  EXPECT_GT(refused, 0);
}

// Without a new start: by the next pass of the same process, with the same sockets.
TEST_P(RefusedCalls, F10_a_running_agent_gets_over_one_call_that_fails) {
  const auto all = refusals(points());
  ASSERT_FALSE(all.empty());
  const std::string wanted = everything();
  int refused = 0;
  for (const Refusal& refusal : all) {
    SCOPED_TRACE(refusal.text());
    start_anew();
    ask_for(GetParam().after);
    const auto running = start_traced(refusing(refusal));
    EXPECT_TRUE(testbed::eventually("all is as wanted", kBound, [&] { return everything() == wanted; }))
        << everything() << running.output();
    refused += was_refused() ? 1 : 0;
  }
  fmt::print("{} calls refused\n", refused);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Workloads, RefusedCalls, testing::ValuesIn(kWorkloads),
                         [](const auto& workload) { return std::string(workload.param.name); });

}  // namespace
