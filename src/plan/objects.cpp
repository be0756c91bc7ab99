#include "plan/objects.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace plan {
namespace {

using state::InterfaceAddress;
using state::Link;
using state::LinkKind;
using state::Nexthop;
using state::ObservedLink;

// Desired objects by key, each checked; the first of several for one key counts.
template <typename Object, typename Named>
auto collect(std::vector<Object> given, Named named, const auto& check, std::vector<Obstacle>& obstacles) {
  std::map<std::remove_cvref_t<decltype(key(given.front()))>, Object> out;
  std::ranges::sort(given);
  for (Object& object : given) {
    if (auto status = check(object); !status) {
      obstacles.push_back({.desired = named(object), .reason = status.error().message()});
    } else if (const auto [first, fresh] = out.try_emplace(key(object), object); !fresh && first->second != object) {
      obstacles.push_back({.desired = named(object), .reason = fmt::format("{} is there", text(first->second))});
    }
  }
  return out;
}

std::string named(const Link& link) {
  return fmt::format("link {}", text(link));
}
std::string named(const InterfaceAddress& address) {
  return fmt::format("{} address {}", net::text(address.local.family()), text(address));
}
std::string named(const Nexthop& nexthop) {
  return fmt::format("nexthop {}", text(nexthop));
}

base::Status check_protocol(const Ownership& ownership, std::uint8_t protocol) {
  if (ownership.owns(protocol)) return {};
  return base::fail(base::Fault::invalid, fmt::format("protocol: {} is not ours", protocol));
}

// How many other new links stand below: 0 can be made at once.
std::size_t depth(const std::map<net::InterfaceName, Link>& wanted, const Link& link) {
  std::size_t out = link.kind == LinkKind::vrf ? 0 : 1;  // A vrf is what others are in.
  const Link* below = &link;
  while (below->kind == LinkKind::vlan && out <= wanted.size() + 1) {
    const auto parent = wanted.find(below->vlan.parent);
    if (parent == wanted.end()) break;
    below = &parent->second;
    ++out;
  }
  return out;
}

bool is_same_thing(const Link& one, const Link& other) {
  return one.kind == other.kind && one.vlan == other.vlan && one.table == other.table && one.alias == other.alias;
}

}  // namespace

Changes diff_links(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership) {
  Changes out;
  const auto wanted = collect(
      desired.links, [](const Link& link) { return named(link); }, [](const Link& link) { return validate(link); },
      out.obstacles);
  std::map<net::InterfaceName, const ObservedLink*> there;
  for (const ObservedLink& seen : observed.observed_links) there[seen.link.name] = &seen;

  std::vector<const Link*> ordered;
  for (const auto& [name, link] : wanted) ordered.push_back(&link);
  std::ranges::stable_sort(ordered, {}, [&](const Link* link) { return depth(wanted, *link); });
  for (const Link* link : ordered) {
    const auto found = there.find(link->name);
    if (found == there.end()) {
      out.make.emplace_back(Add<Link>{*link});
      continue;
    }
    const ObservedLink& seen = *found->second;
    if (!ownership.owns(seen)) {
      out.obstacles.push_back({.desired = named(*link), .reason = fmt::format("foreign {} is there", text(seen.link))});
    } else if (!is_same_thing(seen.link, *link) || !seen.opaque.empty()) {
      out.make.emplace_back(Remove<ObservedLink>{seen});
      out.make.emplace_back(Add<Link>{*link});
    } else if (!satisfies(seen.link, *link)) {
      out.make.emplace_back(Set{.own = seen, .to = *link});
    }
  }
  // The youngest first: what stands on another was made after it.
  for (auto seen = observed.observed_links.rbegin(); seen != observed.observed_links.rend(); ++seen) {
    if (ownership.owns(*seen) && !wanted.contains(seen->link.name))
      out.unmake.emplace_back(Remove<ObservedLink>{*seen});
  }
  return out;
}

Changes diff_addresses(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership) {
  Changes out;
  std::vector<InterfaceAddress> given = desired.addresses;
  for (InterfaceAddress& address : given) address = state::canonical(std::move(address));
  const auto check = [&](const InterfaceAddress& address) -> base::Status {
    TRY(validate(address));
    return check_protocol(ownership, address.protocol);
  };
  auto wanted =
      collect(std::move(given), [](const InterfaceAddress& address) { return named(address); }, check, out.obstacles);
  for (const InterfaceAddress& seen : observed.addresses) {
    const auto found = wanted.find(key(seen));
    if (found != wanted.end() && !ownership.owns(seen)) {
      out.obstacles.push_back(
          {.desired = named(found->second), .reason = fmt::format("foreign {} is there", text(seen))});
    } else if (found != wanted.end() && seen != found->second) {
      out.make.emplace_back(Remove<InterfaceAddress>{seen});
      out.make.emplace_back(Add<InterfaceAddress>{found->second});
    } else if (found == wanted.end() && ownership.owns(seen)) {
      out.unmake.emplace_back(Remove<InterfaceAddress>{seen});
    }
    if (found != wanted.end()) wanted.erase(found);
  }
  for (const state::OpaqueAddress& seen : observed.opaque_addresses) {
    const auto found = wanted.find(seen.key);
    if (found == wanted.end()) continue;
    out.obstacles.push_back({.desired = named(found->second), .reason = fmt::format("{} is there", text(seen))});
    wanted.erase(found);
  }
  for (const auto& [place, address] : wanted) out.make.emplace_back(Add<InterfaceAddress>{address});
  return out;
}

Changes diff_nexthops(const state::NetState& observed, bool verified, const state::NetState& desired,
                      const Ownership& ownership) {
  Changes out;
  std::vector<Nexthop> given = desired.nexthops;
  for (Nexthop& nexthop : given) nexthop = state::canonical(std::move(nexthop));
  const auto check = [&](const Nexthop& nexthop) -> base::Status {
    TRY(validate(nexthop));
    return check_protocol(ownership, nexthop.protocol);
  };
  auto wanted = collect(std::move(given), [](const Nexthop& nexthop) { return named(nexthop); }, check, out.obstacles);
  std::vector<Nexthop> surplus;
  for (const Nexthop& seen : observed.nexthops) {
    const auto found = wanted.find(seen.id);
    if (found == wanted.end()) {
      if (ownership.owns(seen)) surplus.push_back(seen);
      continue;
    }
    if (!ownership.owns(seen)) {
      out.obstacles.push_back(
          {.desired = named(found->second), .reason = fmt::format("foreign {} is there", text(seen))});
    } else if (seen != found->second && verified) {
      out.make.emplace_back(Replace<Nexthop>{.from = seen, .to = found->second});
    }
    wanted.erase(found);
  }
  for (const state::OpaqueNexthop& seen : observed.opaque_nexthops) {
    const auto found = wanted.find(seen.id);
    if (found == wanted.end()) continue;
    out.obstacles.push_back({.desired = named(found->second), .reason = fmt::format("{} is there", text(seen))});
    wanted.erase(found);
  }
  for (const auto& [id, nexthop] : wanted) out.make.emplace_back(Add<Nexthop>{nexthop});
  std::ranges::stable_partition(out.make, [](const Op& op) {
    const auto* const added = std::get_if<Add<Nexthop>>(&op);
    return (added != nullptr ? added->object : std::get<Replace<Nexthop>>(op).to).group.empty();
  });
  std::ranges::stable_partition(surplus, [](const Nexthop& nexthop) { return !nexthop.group.empty(); });
  for (Nexthop& nexthop : surplus) out.unmake.emplace_back(Remove<Nexthop>{std::move(nexthop)});
  return out;
}

}  // namespace plan
