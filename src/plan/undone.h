#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "net/interface_name.h"
#include "plan/ground.h"
#include "plan/plan.h"

namespace plan {

// Operations of a plan that were not done, and which others therefore have to wait. The kernel refuses a route without
// its link by itself; it does not refuse a rule over an empty table, or a route taken away under a rule that stayed.
//
// Made: a nexthop before groups of it and routes over it, the routes of a table before the rules over it. Unmade: the
// other way round. A rule also stays while the one that is to take its place waits.
class Undone {
 public:
  void note(const Op& op);

  // What `op` waits for, in words; empty where it need not wait.
  std::string obstacle_to(const Op& op) const;

  // What an operation makes ready, or out of use, for others.
  struct RoutesOf {
    RouteTable table{};
    auto operator<=>(const RoutesOf&) const = default;
  };
  struct NexthopMade {
    std::uint32_t id = 0;
    auto operator<=>(const NexthopMade&) const = default;
  };
  struct NewRuleFor {
    net::Family family = net::Family::v4;
    state::Selector selector{};
    auto operator<=>(const NewRuleFor&) const = default;
  };
  struct NoRuleOver {
    RouteTable table{};
    auto operator<=>(const NoRuleOver&) const = default;
  };
  struct NexthopUnused {
    std::uint32_t id = 0;
    auto operator<=>(const NexthopUnused&) const = default;
  };
  struct DeviceUnused {
    net::InterfaceName dev{};
    auto operator<=>(const DeviceUnused&) const = default;
  };
  using Condition = std::variant<RoutesOf, NexthopMade, NewRuleFor, NoRuleOver, NexthopUnused, DeviceUnused>;

 private:
  std::map<Condition, std::string> unmet_;  // With the operation that would have met it.
};

}  // namespace plan
