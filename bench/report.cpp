#include "bench/report.h"

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

std::string milliseconds(double time) {
  return quantity(time, "ms");
}

std::string beside(const std::string& name, double value, const std::string& unit) {
  return name.empty() ? std::string("-") : fmt::format("{} {}", name, quantity(value, unit));
}

void append_line(std::string& out, const std::string& group, const Line& line) {
  const bool is_ratio = !line.limit.empty();
  out += fmt::format(
      "{:60}{:>12}{:>24}{:>24}{:>9}{:>12}  {}\n", fmt::format("{}: {}", group, line.name),
      quantity(line.ours, line.unit), beside(line.peer, line.peer_time, line.unit),
      beside(line.limit, line.limit_time, line.unit), is_ratio ? fmt::format("{:.2f}", line.measure) : "-",
      is_ratio ? fmt::format("{:.2f}", line.budget) : quantity(line.budget, line.unit), line.kept() ? "ok" : "short");
}

void append_growth(std::string& out, const std::string& group, const GrowthLine& line) {
  out += fmt::format("{:60}", fmt::format("{}: {}", group, line.name));
  for (std::size_t i = 0; i < line.sizes.size(); ++i) {
    out += fmt::format("{:>26}", fmt::format("n = {}: {}", line.sizes[i], milliseconds(line.times[i])));
  }
  out += fmt::format("  n^{:.2f}, expected n^{:.2f}\n", line.exponent, line.expected);
}

// JSON has no word for what is not a number.
std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string json_of(const std::string& name, double value) {
  if (name.empty()) return "null";
  return json::object([&](json::Object& out) {
    out.put("name", name);
    out.put_json("value", number(value));
  });
}

}  // namespace

Machine this_machine() {
  utsname system{};
  (void)::uname(&system);
  return {.kernel = system.release, .cpus = std::thread::hardware_concurrency(), .commit = base::version_text("bench")};
}

std::string format_table(const std::vector<GroupReport>& reports) {
  std::string out = fmt::format("{:60}{:>12}{:>24}{:>24}{:>9}{:>12}\n", "", "ours", "peer", "limit", "ratio", "budget");
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
        object.put("better", "lower");
        object.put_json("ours", number(line.ours));
        object.put_json("peer", json_of(line.peer, line.peer_time));
        object.put_json("limit", json_of(line.limit, line.limit_time));
        object.put_json("ratio", line.limit.empty() ? "null" : number(line.measure));
        object.put_json("budget", number(line.budget));
        object.put("ok", line.kept());
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
