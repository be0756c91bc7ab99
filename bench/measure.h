#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bench {

// One way to do the work: how long one go at it takes, in milliseconds. Preparation is not part of the time.
using Work = std::function<base::Result<double>()>;

struct Contender {
  std::string name;
  Work work;
};

// One promise: our time, beside a peer's and beside what the kernel allows at best, in the same run.
struct Promise {
  std::string name;  // "kernel: 10,000 rules from nothing"
  Work ours;
  std::optional<Contender> peer = {};
  std::optional<Contender> limit = {};
  double budget = 0;  // Times the limit's time where there is a limit, else milliseconds.
};

struct Line {
  std::string name;
  double ours = 0;  // Milliseconds, the median of all rounds.
  std::string peer = {};
  double peer_time = 0;
  std::string limit = {};
  double limit_time = 0;
  double measure = 0;  // What the budget speaks of.
  double budget = 0;
  double spread = 0;  // Slowest of ours over its median.

  bool kept() const { return measure <= budget; }
};

// Interleaves all contenders round by round, so that what else the machine does hits them alike.
base::Result<Line> measure(const Promise& promise, int rounds);

std::string format_table(const std::vector<Line>& lines);
std::string format_json(const std::vector<Line>& lines);

std::vector<Promise> plan_promises();
std::vector<Promise> kernel_promises();

}  // namespace bench
