#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bench {

// One way to do the work: what one go at it comes to, in milliseconds unless the promise names another unit.
// Preparation is not part of the time.
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

enum class Better : std::uint8_t { lower, higher };

// One promise: our figure, beside a peer's and beside the best there can be, in the same run.
struct Promise {
  std::string name;  // "10,000 rules from nothing"
  Work ours;
  std::optional<Contender> peer = {};
  std::optional<Contender> limit = {};
  // Times the limit's figure where there is a limit, else of the unit. Nothing is promised without one: the line only
  // informs.
  std::optional<double> budget = {};
  bool against_peer = false;  // The budget is times the peer's figure.
  int rounds = 7;             // 1 where one go is itself many.
  std::string unit = "ms";
  Better better = Better::lower;
};

// How the cost of some work grows with its size.
struct Growth {
  std::string name;
  std::uint32_t least = 0;  // Measured at n, 2n and 4n.
  double expected = 1;      // 0: not at all, 1: in proportion, 2: with the square.
  std::function<base::Result<double>(std::uint32_t n)> work;
  int rounds = 7;
  std::string unit = "ms";
};

struct Group {
  std::string name;
  std::vector<Promise> promises;
  std::vector<Growth> growth = {};
};

// The groups, in the order of the table.
Group net_group();
Group state_group();
Group decode_group();
Group intent_group();
Group plan_group();
Group kernel_group();
Group kube_group();
Group service_rules_group();
Group dataplane_group();
Group memory_group();
Group scale_group();
Group crowd_group();

struct Beside {
  std::string name;
  double value = 0;  // The median of all rounds.
};

struct Line {
  std::string name;
  double ours = 0;  // The median of all rounds.
  std::optional<Beside> peer = {};
  std::optional<Beside> limit = {};
  std::optional<double> ratio = {};  // To the limit, or to the peer where there is none or the budget is about it.
  std::optional<double> budget = {};
  bool is_relative = false;  // The budget is about the ratio.
  double spread = 0;         // The worst of ours over its median.
  int rounds = 0;
  std::string unit = "ms";
  Better better = Better::lower;

  std::optional<bool> kept() const;  // Nothing where nothing was promised.
};

struct GrowthLine {
  std::string name;
  std::vector<std::uint32_t> sizes;
  std::vector<double> costs;  // The least of all rounds: growth is about the work, not the machine.
  double expected = 0;
  double exponent = 0;  // Of the curve through these points.
  std::string unit = "ms";
};

double median(std::vector<double> values);

// Interleaves all contenders round by round, so that what else the machine does hits them alike.
base::Result<Line> measure(const Promise& promise);
base::Result<GrowthLine> measure(const Growth& growth);

}  // namespace bench
