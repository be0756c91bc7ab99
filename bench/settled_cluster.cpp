#include "bench/settled_cluster.h"

#include <fmt/format.h>

#include "bench/samples.h"

namespace bench {
namespace {

// Published, acknowledged, stated.
constexpr int kPasses = 4;

}  // namespace

intent::SmallCluster settled_cluster(std::uint32_t services, std::uint32_t rules, std::uint32_t nodes) {
  intent::SmallCluster cluster;
  cluster.wishes = many_services(services, rules);
  for (std::uint32_t i = 0; i < nodes; ++i) cluster.add_node(fmt::format("node-{}", i));
  for (int pass = 0; pass < kPasses; ++pass) {
    cluster.pass();
    cluster.settle_all();
  }
  return cluster;
}

}  // namespace bench
