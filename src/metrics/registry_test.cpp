#include "metrics/registry.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace metrics {
namespace {

using namespace std::chrono_literals;

TEST(Registry, the_text_is_sorted_and_complete) {
  Registry registry;
  registry.gauge("b_depth", "How deep.").set(2.5);
  registry.counter("a_total", "How many.", {{"result", "success"}}).add(3);
  registry.counter("a_total", "How many.", {{"result", "error"}}).add();
  EXPECT_EQ(registry.text(),
            "# HELP a_total How many.\n"
            "# TYPE a_total counter\n"
            "a_total{result=\"error\"} 1\n"
            "a_total{result=\"success\"} 3\n"
            "# HELP b_depth How deep.\n"
            "# TYPE b_depth gauge\n"
            "b_depth 2.5\n");
}

TEST(Registry, a_gauge_may_be_called_total) {
  Registry registry;
  registry.gauge("iprule_operator_desired_configs_total", "As upstream has it.").set(7);
  EXPECT_NE(registry.text().find("# TYPE iprule_operator_desired_configs_total gauge"), std::string::npos);
}

TEST(Registry, histograms_count_into_cumulative_buckets) {
  Registry registry;
  const auto histogram = registry.histogram("took_seconds", "How long.", {0.005, 0.1, 1});
  histogram.observe(5ms);
  histogram.observe(50ms);
  histogram.observe(10s);
  EXPECT_EQ(registry.text(),
            "# HELP took_seconds How long.\n"
            "# TYPE took_seconds histogram\n"
            "took_seconds_count 3\n"
            "took_seconds_sum 10.055\n"
            "took_seconds_bucket{le=\"0.005\"} 1\n"
            "took_seconds_bucket{le=\"0.1\"} 2\n"
            "took_seconds_bucket{le=\"1\"} 2\n"
            "took_seconds_bucket{le=\"+Inf\"} 3\n");
}

TEST(Registry, the_same_name_and_labels_are_the_same_metric) {
  Registry registry;
  registry.counter("a_total", "", {{"x", "1"}}).add(2);
  EXPECT_EQ(registry.counter("a_total", "", {{"x", "1"}}).value(), 2);
  EXPECT_EQ(registry.counter("a_total", "", {{"x", "2"}}).value(), 0);
}

TEST(Registry, label_values_are_escaped) {
  Registry registry;
  registry.gauge("g", "", {{"reason", "a \"b\"\nc\\d"}}).set(1);
  EXPECT_NE(registry.text().find(R"(g{reason="a \"b\"\nc\\d"} 1)"), std::string::npos) << registry.text();
}

TEST(Registry, a_total_counted_elsewhere_never_falls) {
  Registry registry;
  const auto counter = registry.counter("a_total", "");
  counter.raise_to(5);
  counter.raise_to(3);
  EXPECT_EQ(counter.value(), 5);
}

TEST(Registry, values_are_refreshed_before_each_text) {
  Registry registry;
  const auto gauge = registry.gauge("g", "");
  int looks = 0;
  registry.before_text([&] { gauge.set(++looks); });
  EXPECT_NE(registry.text().find("g 1\n"), std::string::npos);
  EXPECT_NE(registry.text().find("g 2\n"), std::string::npos);
}

TEST(Registry, one_name_for_two_types_is_a_bug) {
  Registry registry;
  registry.counter("a_total", "");
  EXPECT_DEATH(registry.gauge("a_total", ""), "metric cannot be registered");
}

TEST(Registry, threads_count_and_read_at_once) {
  Registry registry;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          registry.counter("a_total", "", {{"n", std::to_string(n % 5)}}).add();
          if (n % 100 == 0) (void)registry.text();
        }
      });
    }
  }
  EXPECT_EQ(registry.counter("a_total", "", {{"n", "0"}}).value(), 400);
}

}  // namespace
}  // namespace metrics
