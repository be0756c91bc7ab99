#include "bench/measure.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

// The slope of the straight line nearest to the points in a plot with logarithmic axes.
double fitted_exponent(const std::vector<std::uint32_t>& sizes, const std::vector<double>& times) {
  const auto count = static_cast<double>(sizes.size());
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double x = std::log(static_cast<double>(sizes[i]));
    const double y = std::log(times[i]);
    sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
  }
  return (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
}

}  // namespace

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

base::Result<Line> measure(const Promise& promise) {
  std::vector<double> ours;
  std::vector<double> peer;
  std::vector<double> limit;
  for (int round = 0; round < promise.rounds; ++round) {
    ours.push_back(TRY(promise.ours()));
    if (promise.peer) peer.push_back(TRY(promise.peer->work()));
    if (promise.limit) limit.push_back(TRY(promise.limit->work()));
  }
  Line line{.name = promise.name,
            .ours = median(ours),
            .budget = promise.budget,
            .rounds = promise.rounds,
            .unit = promise.unit};
  if (promise.peer) line.peer = promise.peer->name, line.peer_time = median(peer);
  if (promise.limit) line.limit = promise.limit->name, line.limit_time = median(limit);
  line.measure = promise.limit ? line.ours / line.limit_time : line.ours;
  line.spread = std::ranges::max(ours) / line.ours;
  return line;
}

base::Result<GrowthLine> measure(const Growth& growth) {
  constexpr int kRounds = 7;
  GrowthLine line{.name = growth.name,
                  .sizes = {growth.least, growth.least * 2, growth.least * 4},
                  .times = {},
                  .expected = growth.expected};
  for (const std::uint32_t size : line.sizes) {
    double fastest = TRY(growth.work(size));
    for (int round = 1; round < kRounds; ++round) fastest = std::min(fastest, TRY(growth.work(size)));
    line.times.push_back(fastest);
  }
  line.exponent = fitted_exponent(line.sizes, line.times);
  return line;
}

}  // namespace bench
