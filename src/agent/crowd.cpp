#include "agent/crowd.h"

#include <algorithm>
#include <cstdint>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPrefixesPerNode = 3;  // About: its addresses and the pods'.
constexpr std::size_t kManyNodes = 50;
constexpr base::Duration kPerNode = 2ms;
constexpr base::Duration kLongest = 20s;
constexpr base::Duration kJustBooted = 5min;

// FNV-1a: the same on every machine and in every version.
std::uint64_t hash(std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325U;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return out ^ (out >> 32U);
}

}  // namespace

bool is_crowd(std::size_t cluster_prefixes) {
  return cluster_prefixes > kManyNodes * kPrefixesPerNode;
}

bool may_join_a_crowd(base::Duration uptime) {
  return uptime < kJustBooted;
}

base::Duration boot_delay(std::string_view node, std::size_t cluster_prefixes, base::Duration uptime) {
  if (!is_crowd(cluster_prefixes) || !may_join_a_crowd(uptime)) return {};
  const auto nodes = static_cast<base::Duration::rep>(cluster_prefixes / kPrefixesPerNode);
  const base::Duration spread = std::min<base::Duration>(kPerNode * nodes, kLongest);
  return base::Duration(hash(node) % static_cast<std::uint64_t>(spread.count()));
}

}  // namespace agent
