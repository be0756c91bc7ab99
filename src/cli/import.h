#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/ip_json.h"

namespace cli {

// What became of the rules of a host.
struct Imported {
  std::string manifests;  // IPRules, one document for each table and priority.
  std::size_t taken = 0;
  std::size_t left = 0;              // The kernel's own and ours.
  std::vector<std::string> refused;  // Those that no IPRule can say, and why.
};

// IPRules that steer what the rules steer: `from PREFIX lookup TABLE` becomes a range of load balancer addresses.
// `name` is that of the first; others get their table and priority behind it.
Imported import_rules(const DumpedRules& dumped, std::string_view name);

// Manifests on stdout; the sum on stderr, which the answer's page is.
struct ImportAnswer {
  std::string manifests;
  Answer sum;
};
base::Result<ImportAnswer> import_file(const std::string& rules, std::string_view name);

}  // namespace cli
