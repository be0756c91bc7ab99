#include "bench/report.h"

#include <cmath>
#include <sys/utsname.h>
#include <thread>

#include <fmt/format.h>

#include "base/version.h"
#include "json/writer.h"

namespace bench {
namespace {

std::string quantity(double value, const std::string& unit) {
  return fmt::format("{:.2f} {}", value, unit);
}

std::string beside(const std::optional<Beside>& other, const std::string& unit) {
  return other ? fmt::format("{} {}", other->name, quantity(other->value, unit)) : "-";
}

std::string budget_of(const Line& line) {
  if (!line.budget) return "-";
  const std::string_view bound = line.better == Better::lower ? "<=" : ">=";
  return fmt::format("{} {}", bound,
                     line.is_relative ? fmt::format("{:.2f}", *line.budget) : quantity(*line.budget, line.unit));
}

std::string_view verdict(const Line& line) {
  const auto kept = line.kept();
  if (!kept) return "-";
  return *kept ? "ok" : "short";
}

constexpr std::string_view kLayout = "{:64}{:>14}{:>28}{:>26}{:>8}{:>14}  {}\n";

void append_line(std::string& out, const std::string& group, const Line& line) {
  out += fmt::format(kLayout, fmt::format("{}: {}", group, line.name), quantity(line.ours, line.unit),
                     beside(line.peer, line.unit), beside(line.limit, line.unit),
                     line.ratio ? fmt::format("{:.2f}", *line.ratio) : "-", budget_of(line), verdict(line));
}

void append_growth(std::string& out, const std::string& group, const GrowthLine& line) {
  out += fmt::format("{:64}", fmt::format("{}: {}", group, line.name));
  for (std::size_t i = 0; i < line.sizes.size(); ++i) {
    out += fmt::format("{:>26}", fmt::format("n = {}: {}", line.sizes[i], quantity(line.costs[i], line.unit)));
  }
  out += fmt::format("  n^{:.2f}, expected n^{:.2f}\n", line.exponent, line.expected);
}

// JSON has no word for what is not a number, for example the spread of rounds that all cost nothing.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string number(const std::optional<double>& value) {
  return value ? number(*value) : "null";
}

std::string json_of(const std::optional<Beside>& other) {
  if (!other) return "null";
  return json::object([&](json::Object& out) {
    out.put("name", other->name);
    out.put_json("value", number(other->value));
  });
}

std::string_view json_of(std::optional<bool> answer) {
  if (!answer) return "null";
  return *answer ? "true" : "false";
}

}  // namespace

Machine this_machine() {
  utsname system{};
  (void)::uname(&system);
  return {.kernel = system.release, .cpus = std::thread::hardware_concurrency(), .commit = std::string(base::commit())};
}

std::string format_table(const std::vector<GroupReport>& reports) {
  std::string out = fmt::format(kLayout, "", "ours", "peer", "limit", "ratio", "budget", "");
  for (const GroupReport& report : reports) {
    for (const Line& line : report.lines) append_line(out, report.name, line);
  }
  std::string growth;
  for (const GroupReport& report : reports) {
    for (const GrowthLine& line : report.growth) append_growth(growth, report.name, line);
  }
  return growth.empty() ? out : out + "\nGrowth\n" + growth;
}

std::string format_json(const std::vector<GroupReport>& reports, const Machine& machine) {
  std::string out = "[";
  for (const GroupReport& report : reports) {
    for (const Line& line : report.lines) {
      out += out.size() > 1 ? ",\n  " : "\n  ";
      out += json::object([&](json::Object& object) {
        object.put("name", fmt::format("{}: {}", report.name, line.name));
        object.put("unit", line.unit);
        object.put("better", line.better == Better::lower ? "lower" : "higher");
        object.put_json("ours", number(line.ours));
        object.put_json("peer", json_of(line.peer));
        object.put_json("limit", json_of(line.limit));
        object.put_json("ratio", number(line.ratio));
        object.put_json("budget", number(line.budget));
        object.put_json("ok", json_of(line.kept()));
        object.put("rounds", line.rounds);
        object.put_json("spread", number(line.spread));
        object.put("kernel", machine.kernel);
        object.put("cpus", machine.cpus);
        object.put("commit", machine.commit);
      });
    }
  }
  return out + "\n]\n";
}

}  // namespace bench
