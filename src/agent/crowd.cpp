#include "agent/crowd.h"

#include <algorithm>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kFewNodes = 50;
constexpr std::int32_t kMostNodes = 10'000;  // More come closer together.
constexpr base::Duration kReport = 1ms;      // What one takes of the time of a small server.
constexpr base::Duration kList = 5ms;
constexpr base::Duration kJustBooted = 5min;

// FNV-1a: the same on every machine and in every version.
std::uint64_t hash(std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325U;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return out ^ (out >> 32U);
}

base::Duration place_in_line(std::string_view node, std::int32_t nodes, base::Duration each) {
  if (nodes <= kFewNodes) return {};
  const base::Duration line = each * std::min(nodes, kMostNodes);
  return base::Duration(hash(node) % static_cast<std::uint64_t>(line.count()));
}

}  // namespace

base::Duration turn_of(std::string_view node, std::int32_t nodes) {
  return place_in_line(node, nodes, kReport);
}

bool may_join_a_crowd(base::Duration uptime) {
  return uptime < kJustBooted;
}

base::Duration boot_delay(std::string_view node, std::int32_t nodes, base::Duration uptime) {
  return may_join_a_crowd(uptime) ? place_in_line(node, nodes, kList) : base::Duration();
}

}  // namespace agent
