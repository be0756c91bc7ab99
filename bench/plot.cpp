#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/report.h"

namespace bench {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 400;
constexpr double kMargin = 60;
constexpr std::array<std::string_view, 4> kColours = {"#0b6e99", "#b3541e", "#3c7a3c", "#7a3c70"};

// Where a value lies on an axis with equal steps for equal factors.
class Axis {
 public:
  void include(double value) { low_ = std::min(low_, value), high_ = std::max(high_, value); }
  double place(double value, double from, double to) const {
    const double share = high_ > low_ ? std::log(value / low_) / std::log(high_ / low_) : 0.5;
    return from + share * (to - from);
  }

 private:
  double low_ = std::numeric_limits<double>::max();
  double high_ = 0;
};

struct Plane {
  Axis sizes{};
  Axis costs{};
  double x(double size) const { return sizes.place(size, kMargin, kWidth - kMargin); }
  double y(double cost) const { return costs.place(cost, kHeight - kMargin, kMargin); }
};

double expected_cost(const GrowthLine& line, std::size_t i) {
  return line.costs[0] * std::pow(static_cast<double>(line.sizes[i]) / line.sizes[0], line.expected);
}

Plane plane_of(const GroupReport& report) {
  Plane plane;
  for (const GrowthLine& line : report.growth) {
    for (std::size_t i = 0; i < line.sizes.size(); ++i) {
      plane.sizes.include(line.sizes[i]);
      plane.costs.include(line.costs[i]);
      plane.costs.include(expected_cost(line, i));
    }
  }
  return plane;
}

void append_curve(std::string& out, const Plane& plane, const GrowthLine& line, std::size_t number) {
  const std::string_view colour = kColours[number % kColours.size()];
  std::string measured;
  std::string expected;
  for (std::size_t i = 0; i < line.sizes.size(); ++i) {
    const double x = plane.x(line.sizes[i]);
    const double y = plane.y(line.costs[i]);
    measured += fmt::format("{:.1f},{:.1f} ", x, y);
    expected += fmt::format("{:.1f},{:.1f} ", x, plane.y(expected_cost(line, i)));
    out += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>)", x, y, colour);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}: {:.2f} {}</text>)", x - 20, y - 10, line.sizes[i],
                       line.costs[i], line.unit);
  }
  out += fmt::format(R"(<polyline fill="none" stroke="{}" points="{}"/>)", colour, measured);
  out += fmt::format(R"(<polyline fill="none" stroke="{}" stroke-dasharray="4" points="{}"/>)", colour, expected);
  out += fmt::format(R"(<text x="{}" y="{}" fill="{}">{}: n^{:.2f}, expected (dashed) n^{:.2f}</text>)", kMargin,
                     20 + 16 * static_cast<double>(number), colour, line.name, line.exponent, line.expected);
}

}  // namespace

std::string format_svg(const GroupReport& report, const Machine& machine) {
  const Plane plane = plane_of(report);
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="11"><rect width="{0}" height="{1}" fill="#fff"/>)",
      kWidth, kHeight);
  for (std::size_t i = 0; i < report.growth.size(); ++i) append_curve(out, plane, report.growth[i], i);
  out += fmt::format(
      R"(<text x="{}" y="{}" fill="#555">{}: cost against n, both axes logarithmic; {}, Linux {}, {} CPUs</text>)",
      kMargin, kHeight - 20, report.name, machine.commit, machine.kernel, machine.cpus);
  return out + "</svg>\n";
}

}  // namespace bench
