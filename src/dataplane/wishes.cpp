#include "dataplane/wishes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dataplane {
namespace {

// All wishes for one address. Of two at one priority the older epoch counts.
class Wishes {
 public:
  void add(const Target& target) {
    const auto age = [](const Target& some) { return std::pair(some.epoch, some.table); };
    const auto [there, added] = by_priority_.try_emplace(target.priority, target);
    if (!added && age(target) < age(there->second)) there->second = target;
  }

  Path path() const {
    Path out;
    for (const auto& [priority, target] : by_priority_) out.push_back({priority, target.table});
    return out;
  }

 private:
  std::map<std::uint32_t, Target> by_priority_;
};

// The guard stands one before the first lookup, and 0 is the place of `local`.
constexpr std::uint32_t kLowestGuarded = 2;

}  // namespace

Gathered gather_sources(std::span<const Source> sources, const std::set<net::Address>& protected_sources) {
  std::map<net::Address, Wishes> accepted;
  std::set<net::Address> refused;
  for (const Source& source : sources) {
    if (source.address.is_unspecified() || protected_sources.contains(source.address)) {
      refused.insert(source.address);
    } else {
      accepted[source.address].add(source.target);
    }
  }
  Gathered out{.refused = {refused.begin(), refused.end()}};
  for (const auto& [address, wishes] : accepted) out.classes[{.path = wishes.path()}].push_back(address);
  return out;
}

Gathered gather_replies(std::span<const Reply> replies) {
  struct Vip {
    Wishes wishes{};
    bool prefer_main = false;
    std::uint32_t first = ~std::uint32_t{0};
  };
  std::map<net::Address, Vip> vips;
  for (const Reply& reply : replies) {
    Vip& vip = vips[reply.vip];
    vip.wishes.add(reply.target);
    vip.prefer_main = vip.prefer_main || reply.prefer_main;
    vip.first = std::min(vip.first, reply.target.priority);
  }
  Gathered out;
  for (const auto& [address, vip] : vips) {
    if (vip.prefer_main && vip.first < kLowestGuarded) {
      out.refused.push_back(address);
      continue;
    }
    ClassKey key{.kind = state::NftClassKind::reply, .path = vip.wishes.path()};
    if (vip.prefer_main) key.guard = vip.first - 1;
    out.classes[std::move(key)].push_back(address);
  }
  return out;
}

std::set<net::Family> families(const Addresses& addresses) {
  return {addresses.front().family(), addresses.back().family()};  // In order: all IPv4 addresses come first.
}

std::set<net::Family> shared_families(const Addresses& one, const Addresses& other) {
  std::set<net::Family> out;
  std::ranges::set_intersection(families(one), families(other), std::inserter(out, out.end()));
  return out;
}

}  // namespace dataplane
