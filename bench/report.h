#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"

namespace bench {

struct GroupReport {
  std::string name;
  std::vector<Line> lines;
  std::vector<GrowthLine> growth;
};

// Where the figures were taken: without it they say nothing.
struct Machine {
  std::string kernel;
  unsigned cpus = 0;
  std::string commit;
};
Machine this_machine();

std::string format_table(const std::vector<GroupReport>& reports);
std::string format_json(const std::vector<GroupReport>& reports, const Machine& machine);

// The growth of one group: measured points and the line of the expected exponent, both axes logarithmic.
std::string format_svg(const GroupReport& report, const Machine& machine);

}  // namespace bench
