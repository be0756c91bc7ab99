#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bench {

// One way to do the work: how long one go at it takes, in milliseconds. Preparation is not part of the time.
using Work = std::function<base::Result<double>()>;

template <typename Action>
base::Result<double> timed(Action action) {
  const auto start = std::chrono::steady_clock::now();
  TRY(action());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Contender {
  std::string name;
  Work work;
};

// One promise: our time, beside a peer's and beside what the kernel allows at best, in the same run.
struct Promise {
  std::string name;  // "10,000 rules from nothing"
  Work ours;
  std::optional<Contender> peer = {};
  std::optional<Contender> limit = {};
  double budget = 0;  // Times the limit's time where there is a limit, else of the unit.
  int rounds = 7;     // 1 where one go is itself many.
  std::string unit = "ms";
};

// How the cost of some work grows with its size.
struct Growth {
  std::string name;
  std::uint32_t least = 0;  // Measured at n, 2n and 4n.
  double expected = 1;      // 1: in proportion, 2: with the square.
  std::function<base::Result<double>(std::uint32_t n)> work;
};

struct Group {
  std::string name;
  std::vector<Promise> promises;
  std::vector<Growth> growth = {};
};

// The groups, in the order of the table.
Group decode_group();
Group plan_group();
Group kernel_group();
Group steering_group();
Group kube_group();
Group cluster_group();
Group service_rules_group();

struct Line {
  std::string name;
  double ours = 0;  // The median of all rounds.
  std::string peer = {};
  double peer_time = 0;
  std::string limit = {};
  double limit_time = 0;
  double measure = 0;  // What the budget speaks of.
  double budget = 0;
  double spread = 0;  // Slowest of ours over its median.
  int rounds = 0;
  std::string unit = "ms";

  bool kept() const { return measure <= budget; }
};

struct GrowthLine {
  std::string name;
  std::vector<std::uint32_t> sizes;
  std::vector<double> times;  // Milliseconds, the fastest of all rounds: growth is about the work, not the machine.
  double expected = 0;
  double exponent = 0;  // Of the curve through these points.
};

double median(std::vector<double> times);

// Interleaves all contenders round by round, so that what else the machine does hits them alike.
base::Result<Line> measure(const Promise& promise);
base::Result<GrowthLine> measure(const Growth& growth);

}  // namespace bench
