#include "bench/measure.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

// The slope of the straight line nearest to the points in a plot with logarithmic axes.
double fitted_exponent(const std::vector<std::uint32_t>& sizes, const std::vector<double>& costs) {
  const auto count = static_cast<double>(sizes.size());
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double x = std::log(static_cast<double>(sizes[i]));
    const double y = std::log(costs[i]);
    sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
  }
  return (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::optional<bool> Line::kept() const {
  if (!budget) return std::nullopt;
  const double figure = is_relative ? ratio.value_or(0) : ours;
  return better == Better::lower ? figure <= *budget : figure >= *budget;
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
            .unit = promise.unit,
            .better = promise.better};
  if (promise.peer) line.peer = {promise.peer->name, median(peer)};
  if (promise.limit) line.limit = {promise.limit->name, median(limit)};
  const bool is_to_peer = promise.against_peer || !line.limit;
  if (const auto& other = is_to_peer ? line.peer : line.limit) line.ratio = line.ours / other->value;
  line.is_relative = promise.against_peer || line.limit.has_value();
  const double worst = promise.better == Better::lower ? std::ranges::max(ours) : std::ranges::min(ours);
  line.spread = worst / line.ours;
  return line;
}

base::Result<GrowthLine> measure(const Growth& growth) {
  GrowthLine line{.name = growth.name,
                  .sizes = {growth.least, growth.least * 2, growth.least * 4},
                  .costs = {},
                  .expected = growth.expected,
                  .unit = growth.unit};
  for (const std::uint32_t size : line.sizes) {
    double least = TRY(growth.work(size));
    for (int round = 1; round < growth.rounds; ++round) least = std::min(least, TRY(growth.work(size)));
    line.costs.push_back(least);
  }
  line.exponent = fitted_exponent(line.sizes, line.costs);
  return line;
}

}  // namespace bench
