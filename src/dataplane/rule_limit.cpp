#include "dataplane/rule_limit.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace dataplane {
namespace {

std::map<net::Address, std::uint64_t> oldest_epochs(std::span<const Source> wishes) {
  std::map<net::Address, std::uint64_t> out;
  for (const Source& wish : wishes) {
    const auto [there, added] = out.try_emplace(wish.address, wish.target.epoch);
    if (!added) there->second = std::min(there->second, wish.target.epoch);
  }
  return out;
}

// The first epoch for which there is no room.
std::uint64_t first_without_room(const std::map<std::uint64_t, std::size_t>& rules, std::size_t most) {
  std::size_t kept = 0;
  for (const auto& [epoch, count] : rules) {
    kept += count;
    if (kept > most) return epoch;
  }
  return ~std::uint64_t{0};
}

}  // namespace

Addresses remove_youngest(Classes& classes, std::span<const Source> wishes, std::size_t most) {
  std::size_t total = 0;
  for (const auto& [key, members] : classes) total += members.size() * key.path.size();
  if (total <= most) return {};

  const auto epochs = oldest_epochs(wishes);
  std::map<std::uint64_t, std::size_t> rules;
  for (const auto& [key, members] : classes) {
    for (const net::Address& address : members) rules[epochs.at(address)] += key.path.size();
  }
  const std::uint64_t end = first_without_room(rules, most);
  Addresses out;
  for (auto& [key, members] : classes) {
    const auto old = [&](const net::Address& address) { return epochs.at(address) < end; };
    const auto young = std::ranges::stable_partition(members, old);
    std::ranges::copy(young, std::back_inserter(out));
    members.erase(young.begin(), young.end());
  }
  return out;
}

}  // namespace dataplane
