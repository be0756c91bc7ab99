#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "intent/cluster/small_cluster.h"
#include "testbed/cluster.h"

namespace bench {

// Puts objects where an API server keeps them, tens of thousands in seconds: what is measured is what comes after.
class Seed {
 public:
  explicit Seed(testbed::Cluster& cluster) : cluster_(cluster) {}

  // Services, IPRules and published objects as they are there; those that were put before are left alone.
  base::Status put(const intent::SmallCluster& world);
  // Nodes `first` to `first + count - 1`, each with a ready pod of the agent in the name space `default`.
  base::Status put_nodes(std::uint32_t first, std::uint32_t count);
  // The report objects of the first `count` nodes, nothing reported yet.
  base::Status put_reports(std::int32_t count);

 private:
  void add(std::string key, std::string object);
  base::Status send();  // What was added.

  testbed::Cluster& cluster_;
  std::set<std::string> known_;
  std::vector<std::pair<std::string, std::string>> waiting_;
};

std::string node_name(std::uint32_t i);  // "node-7"

}  // namespace bench
