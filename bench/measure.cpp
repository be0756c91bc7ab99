#include "bench/measure.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench {
namespace {

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

std::string milliseconds(double time) {
  return time > 0 ? fmt::format("{:.2f} ms", time) : "-";
}

}  // namespace

base::Result<Line> measure(const Promise& promise, int rounds) {
  std::vector<double> ours;
  std::vector<double> peer;
  std::vector<double> limit;
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(TRY(promise.ours()));
    if (promise.peer) peer.push_back(TRY(promise.peer->work()));
    if (promise.limit) limit.push_back(TRY(promise.limit->work()));
  }
  Line line{.name = promise.name, .ours = median(ours), .budget = promise.budget};
  if (promise.peer) line.peer = promise.peer->name, line.peer_time = median(peer);
  if (promise.limit) line.limit = promise.limit->name, line.limit_time = median(limit);
  line.measure = promise.limit ? line.ours / line.limit_time : line.ours;
  line.spread = std::ranges::max(ours) / line.ours;
  return line;
}

std::string format_table(const std::vector<Line>& lines) {
  std::string out =
      fmt::format("{:52}{:>12}{:>26}{:>26}{:>9}{:>9}  {}\n", "", "ours", "peer", "limit", "ratio", "budget", "");
  for (const Line& line : lines) {
    const auto beside = [](const std::string& name, double time) {
      return name.empty() ? std::string("-") : fmt::format("{} {}", name, milliseconds(time));
    };
    const bool is_ratio = !line.limit.empty();
    out += fmt::format("{:52}{:>12}{:>26}{:>26}{:>9}{:>9}  {}\n", line.name, milliseconds(line.ours),
                       beside(line.peer, line.peer_time), beside(line.limit, line.limit_time),
                       is_ratio ? fmt::format("{:.2f}", line.measure) : "-",
                       is_ratio ? fmt::format("{:.2f}", line.budget) : milliseconds(line.budget),
                       line.kept() ? "ok" : "short");
  }
  return out;
}

std::string format_json(const std::vector<Line>& lines) {
  std::string out = "[";
  for (const Line& line : lines) {
    const auto beside = [](const std::string& name, double time) {
      return name.empty() ? std::string("null") : fmt::format(R"({{"name": "{}", "value": {}}})", name, time);
    };
    out += fmt::format(R"({}
  {{"name": "{}", "unit": "ms", "better": "lower", "ours": {}, "peer": {}, "limit": {}, "ratio": {}, "budget": {}, "ok": {}, "spread": {}}})",
                       out.size() > 1 ? "," : "", line.name, line.ours, beside(line.peer, line.peer_time),
                       beside(line.limit, line.limit_time), line.limit.empty() ? 0 : line.measure, line.budget,
                       line.kept(), line.spread);
  }
  return out + "\n]\n";
}

}  // namespace bench
